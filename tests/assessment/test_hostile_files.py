"""Files that come from elsewhere: archives with false lists, broken lines or bombs; runs that swell or carry markup."""

import copy
import gzip
import hashlib
import json
import zipfile
from io import BytesIO

import pyarrow as pa
import pytest

from focuseval.assessment import archive as archives
from focuseval.assessment import open_project
from focuseval.assessment.project import render_markdown
from focuseval.assessment.web import Access, create_app
from focuseval.data.fields import numbered_lines
from focuseval.engine import storage
from focuseval.example import ROOT
from strategies.projects import command, judged_project

from .conftest import HOST, Client

RUN = ROOT / "runs" / "focused" / "careful.xml"


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """The files of an archive."""
    folder = tmp_path_factory.mktemp("archive")
    command("project", "archive", judged_project(folder), folder / "sea.zip", "--imported")
    with zipfile.ZipFile(folder / "sea.zip") as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed(target, files, manifest):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in files.items():
            archive.writestr(name, data)
    return target


def consistent(target, contents, **changed):
    """An archive with other files in it, whose manifest has the right hashes."""
    files = {**contents, **changed}
    manifest = json.loads(files.pop("manifest.json"))
    manifest["files"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()
    }
    return packed(target, files, manifest)


def refused(archive, folder, *, scoring=True, importing=True):
    """Score and import, and return what was said; one line each, and no project with judgements."""
    told = []
    if scoring:
        told.append(command("score", archive, RUN, "-m", "charR", "--docs", ROOT / "articles", code=1))
    if importing:
        told.append(command("project", "import", folder / "new", archive, "--docs", ROOT / "articles", code=1))
    assert all(one.count("\n") == 1 and str(archive) in one for one in told), told
    return told


GOLD = "gold/gold.jsonl"
LISTS = {
    "a size in words": {GOLD: {"bytes": "nine"}},
    "a size below zero": {GOLD: {"bytes": -1}},
    "a size between two numbers": {GOLD: {"bytes": 1.5}},
    "a size beyond all files": {GOLD: {"bytes": 2**40}},
    "no hash": {GOLD: {"sha256": None}},
    "no file": {GOLD: None},
}


@pytest.mark.parametrize("change", LISTS.values(), ids=LISTS)
def test_a_manifest_whose_list_is_none_is_refused(contents, tmp_path, change):
    manifest, files = json.loads(contents["manifest.json"]), copy.copy(contents)
    for name, told in change.items():
        manifest["files"][name] = {**manifest["files"][name], **told} if told else []
    del files["manifest.json"]
    for told in refused(packed(tmp_path / "x.zip", files, manifest), tmp_path):
        assert "or no list of its files" in told


@pytest.mark.parametrize("data", [b"{\n", b'{"a": 1}\n', b"[]\n", b"\xff\xfe\n", b'{"doc": ' + b"9" * 5000 + b"}\n"])
def test_a_broken_list_of_documents_is_refused(contents, tmp_path, data):
    for told in refused(consistent(tmp_path / "x.zip", contents, **{"documents.jsonl": data}), tmp_path):
        assert "expected documents.jsonl" in told
    assert not (tmp_path / "new").exists()


LINES = {
    "nothing": lambda _: b"",
    "a head alone": lambda _: b'{"focuseval": "assessments", "version": 1}\n',
    "an event without fields": lambda lines: lines[0] + b'{"event": {}}\n',
    "a list for an event": lambda lines: lines[0] + b'{"event": []}\n',
    "a judgement without fields": lambda lines: lines[0] + b'{"judgement": {}}\n',
    "an edit of no kind": lambda lines: b"".join(lines).replace(b'"kind": "replace"', b'"kind": "explode"'),
    "a pool of other rows": lambda lines: b"".join(lines).replace(b'"rows": [[', b'"rows": [["x"], [', 1),
    "a number for a time": lambda lines: b"".join(lines).replace(b'"at": "20', b'"at": 5, "x": "20'),
}


@pytest.mark.parametrize("change", LINES.values(), ids=LINES)
def test_judgements_that_no_export_has_are_refused_with_their_line(contents, tmp_path, change):
    data = change([line + b"\n" for _, line in numbered_lines(contents["judgements.jsonl"])])
    bad = consistent(tmp_path / "x.zip", contents, **{"judgements.jsonl": data})
    (told,) = refused(bad, tmp_path, scoring=False)
    assert "judgements.jsonl" in told
    assert "0 judgements" in command("project", "check", tmp_path / "new")


def test_errors_in_an_archive_s_topics_and_gold_name_the_archive(contents, tmp_path):
    bad = consistent(tmp_path / "x.zip", contents, **{"topics.xml": b"<x", GOLD: b"[]\n"})
    for told, file in zip(refused(bad, tmp_path), ("gold.jsonl:1", "topics.xml:1"), strict=True):
        assert told.startswith(f"{bad}: {file}")


def test_an_archive_that_swells_is_refused_before_it_is_unpacked(contents, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "SMALL", 2**16)
    bomb = consistent(tmp_path / "x.zip", contents, **{GOLD: b" " * 2_000_000})
    (told,) = refused(bomb, tmp_path, importing=False)
    assert "200 times its size when unpacked" in told


@pytest.fixture
def lead(tmp_path):
    project = open_project(tmp_path / "sea", collection=str(ROOT / "articles"), topics=str(ROOT / "topics.xml"))
    access = Access(b"k" * 32, frozenset({HOST}), assessor="lea")
    client = Client(create_app(project.store, project.documents, project.topics, access), access).enter()
    client.learn("/guidelines")
    client.folder = project.folder
    yield client
    project.close()


def upload(client, data, name="run.xml.gz"):
    sent = {"file": (BytesIO(data), name), "depth": "3"}
    return client.post("/pool", data=sent, content_type="multipart/form-data")


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: pa.compress(data, "zstd", asbytes=True)])
def test_a_run_that_swells_is_refused(lead, monkeypatch, pack):
    assert upload(lead, pack(RUN.read_bytes())).status_code == 302
    monkeypatch.setattr(storage, "UNPACKED", 2**20)
    answer = upload(lead, pack(b"1 Q0 d 1 1 r\n" * 200_000))
    assert answer.status_code == 422
    assert "run.xml.gz: expected at most 1 MB when it is unpacked, found more" in answer.text


@pytest.mark.parametrize("data", [b"<nonsense", b"PK\x03\x04" + b"0" * 99, b"1 Q0 d 1\n", b"\x1f\x8bhalf"])
def test_a_refused_run_is_called_by_its_own_name_and_not_by_a_path_of_the_server(lead, data):
    answer = upload(lead, data, "mine.txt")
    assert answer.status_code == 422
    assert "mine.txt" in answer.text
    assert str(lead.folder) not in answer.text
    assert "partial-" not in answer.text


ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9))


@pytest.mark.parametrize(
    "declared", [b'<!ENTITY a "lol">' + ENTITIES, b'<!ENTITY j SYSTEM "file:///etc/passwd">'], ids=["laughs", "file"]
)
def test_entities_of_a_run_are_not_expanded(lead, declared):
    source = b'<?xml version="1.0"?><!DOCTYPE x [' + declared + b"]><inex-submission>&j;</inex-submission>"
    answer = upload(lead, source, "laughs.xml")
    assert answer.status_code == 422
    assert "root:" not in answer.text


def test_markup_in_the_name_of_a_run_stays_text(lead):
    hostile = RUN.read_bytes().replace(b'run-id="careful"', b'run-id="&lt;script&gt;alert(1)&lt;/script&gt;"')
    place = upload(lead, hostile, "<script>.xml").location
    name = place.partition("run=")[2].partition("&")[0]
    told = [lead.get(place), lead.post("/pool/add", data={"run": name, "depth": "3"})]
    told += [lead.get(path) for path in ("/pool", "/ranking", "/work", "/dashboard")]
    assert all(answer.status_code in (200, 302) and "<script>" not in answer.text for answer in told)
    assert "&lt;script&gt;alert(1)" in told[0].text


LINKS = (
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "<javascript:alert(1)>",
    "[a]\n\n[a]: javascript:alert(1)",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](vbscript:x)",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://example.org/seen.png)",
    '[a](https://example.org" onclick="alert(1))',
)


@pytest.mark.parametrize("text", LINKS)
def test_guidelines_run_nothing_and_fetch_nothing(text):
    html = render_markdown(text)
    assert not any(what in html.lower() for what in ('href="j', 'href="d', 'href="v', "<script", "<img", '" onclick'))
