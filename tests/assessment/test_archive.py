"""A finished collection in one file: whole, checked, scored with one command, made again."""

import json
import re
import shutil
import zipfile
from io import BytesIO

import pytest

from focuseval.assessment import files, open_project
from focuseval.assessment.adjudication import decide
from focuseval.assessment.archive import archive_gold, open_archive
from focuseval.assessment.plan import MODEL, Assessor, add_found, know_role, known_units, mark_known, pool, register
from focuseval.assessment.pool import keep_run, kept_runs
from focuseval.assessment.rules import Judgement, ungraded
from focuseval.assessment.store import Key
from focuseval.assessment.users import note_people
from focuseval.assessment.web import Access, create_app
from focuseval.errors import FormatError
from focuseval.example import ROOT
from strategies.assessing import save
from strategies.projects import DOCUMENTS, TIDES, command, judged_project

from .conftest import HOST, Client

RUN = ROOT / "runs" / "focused" / "careful.xml"


@pytest.fixture
def judged(tmp_path):
    """Two people's judgements, a decision, a training document, guidelines, and a pool from a run."""
    folder = judged_project(tmp_path)
    (tmp_path / "how.md").write_text("# How to judge\n\nHighlight *all* of it.\n")
    command("project", "add-run", folder, RUN, "--depth", "2")
    command("project", "guidelines", folder, tmp_path / "how.md", "--actor", "lea")
    project = open_project(folder)
    for name, span in (("ann", (100, 200)), ("bob", (150, 250)), ("adjudicated", (150, 200))):
        page = project.documents.get(DOCUMENTS[0])
        key = Key(name, TIDES, DOCUMENTS[0])
        edit = {"kind": "highlight", "start": span[0], "end": span[1], "quote": page.text[slice(*span)]}
        save(project.store, edit, key, page)
        save(project.store, {"kind": "finish", "relevant": True}, key, page)
    mark_known(project.store, [(TIDES, DOCUMENTS[0])], "training", actor="lea")
    project.close()
    return folder


@pytest.fixture
def archive(judged, tmp_path):
    command("project", "archive", judged, tmp_path / "sea.zip", "--merge", "union", "--imported")
    return tmp_path / "sea.zip"


def test_an_archive_holds_everything_with_its_hash(archive):
    found = open_archive(archive)
    expected = {"README.md", "documents.jsonl", "topics.xml", "pool.jsonl", "judgements.jsonl", "agreement.json",
                "guidelines.md", "gold/gold.jsonl", "gold/inex-2008.txt", "gold/gold.qrels"}  # fmt: skip
    assert expected <= set(found.manifest["files"])
    assert any(name.startswith("gold/inex-2005/") for name in found.manifest["files"])
    assert all(found.read(name) for name in found.manifest["files"])
    with zipfile.ZipFile(archive) as packed:
        assert set(packed.namelist()) == {"manifest.json", *found.manifest["files"]}
    text = found.read("README.md").decode()
    assert "careful" in text
    assert "focuseval score" in text
    assert "focuseval project import NEW ARCHIVE.zip --docs DOCUMENTS" in text, "what makes the project again"
    assert "(`union`)" in text
    assert {"ann", "bob"} <= set(text.replace("|", " ").split())


def test_an_archive_says_how_many_documents_no_run_returned(judged, tmp_path):
    project = open_project(judged)
    add_found(project.store, Key("ann", TIDES, "people/ship-biscuit"))
    project.close()
    command("project", "archive", judged, tmp_path / "sea.zip")
    text = open_archive(tmp_path / "sea.zip").read("README.md").decode()
    assert "1 of them found by assessors, the others from 1 run" in text


def test_a_run_is_scored_against_an_archive_as_against_its_project(archive, judged):
    options = ["-m", "charR", "-m", "charP", "--format", "json", "--docs", ROOT / "articles"]
    told = command("score", archive, RUN, *options)
    by_archive = json.loads(told[told.index("{") : told.rindex("}") + 1])
    told = command("score", judged, RUN, *options, "--merge", "union")
    by_project = json.loads(told[told.index("{") : told.rindex("}") + 1])
    assert by_archive["runs"][0]["measures"] == by_project["runs"][0]["measures"]
    assert by_archive["runs"][0]["measures"]["charR"] > 0


def test_an_archive_becomes_the_same_project_and_the_same_archive_again(archive, tmp_path):
    again = tmp_path / "sea2" / "sea"
    again.parent.mkdir()
    told = command("project", "import", again, archive, "--docs", ROOT / "articles")
    assert "events" in told
    assert "otherwise" not in told
    command("project", "archive", again, tmp_path / "again.zip", "--merge", "union", "--imported")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()
    project = open_project(again)
    assert known_units(project.store) == {(TIDES, DOCUMENTS[0]): "training"}
    project.close()


def test_the_runs_that_a_project_keeps_are_in_its_archive_and_rank_after_the_import(judged, tmp_path):
    keep_run(judged, "careful.xml", RUN.read_bytes(), index=None)
    command("project", "archive", judged, tmp_path / "sea.zip", "--merge", "union")
    told = command("project", "import", tmp_path / "again", tmp_path / "sea.zip", "--docs", ROOT / "articles")
    assert "1 run" in told
    (kept,) = kept_runs(tmp_path / "again")
    assert kept.read_bytes() == RUN.read_bytes()
    assert kept.name == kept_runs(judged)[0].name


def test_other_texts_are_refused_when_scoring_and_named_when_importing(archive, tmp_path):
    copy = tmp_path / "articles"
    shutil.copytree(ROOT / "articles", copy)
    path = copy / f"{DOCUMENTS[0]}.xml"
    path.write_text(path.read_text().replace("tide", "TIDE", 1))
    told = command("score", archive, RUN, "-m", "charR", "--docs", copy, code=1)
    assert f"found another one of '{DOCUMENTS[0]}'" in told
    assert "Traceback" not in told
    told = command("project", "import", tmp_path / "new", archive, "--docs", copy)
    assert f"1 document has changed since the judgements were made; the first is {DOCUMENTS[0]}" in told


def rewritten(archive, target, change):
    with zipfile.ZipFile(archive) as before, zipfile.ZipFile(target, "w") as after:
        contents = {name: before.read(name) for name in before.namelist()}
        for name, data in change(contents).items():
            after.writestr(name, data)
    return target


def tampered(contents):
    return {**contents, "gold/gold.jsonl": contents["gold/gold.jsonl"].replace(b"start", b"stArt")}


def without_gold(contents):
    return {name: data for name, data in contents.items() if name != "gold/gold.jsonl"}


def climbing(contents):
    manifest = json.loads(contents["manifest.json"])
    manifest["files"]["topics/../../evil.xml"] = manifest["files"].pop("topics.xml")
    data = {**contents, "manifest.json": json.dumps(manifest).encode()}
    return {**data, "topics/../../evil.xml": contents["topics.xml"]}


def larger(contents):
    return {**contents, "gold/gold.jsonl": contents["gold/gold.jsonl"] + b" " * 10_000_000}


@pytest.mark.parametrize("change", [tampered, without_gold, larger])
def test_an_archive_that_was_changed_is_refused(archive, tmp_path, change):
    bad = rewritten(archive, tmp_path / "bad.zip", change)
    with pytest.raises(FormatError):
        archive_gold(bad)
    assert "Traceback" not in command("score", bad, RUN, "-m", "charR", "--docs", ROOT / "articles", code=1)


def test_names_in_an_archive_never_become_paths(archive, tmp_path):
    bad = rewritten(archive, tmp_path / "bad.zip", climbing)
    command("project", "import", tmp_path / "a" / "b" / "new", bad, "--docs", ROOT / "articles")
    assert not list(tmp_path.rglob("evil.xml")) or all("topics" in str(path) for path in tmp_path.rglob("evil.xml"))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04nonsense", b"no zip"])
def test_a_file_that_is_no_archive_is_one_line(tmp_path, data):
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(FormatError, match="expected an archive"):
        open_archive(tmp_path / "x.zip")


def test_an_archive_of_a_newer_version_is_refused(archive, tmp_path):
    def newer(contents):
        return {**contents, "manifest.json": contents["manifest.json"].replace(b'"version": 1', b'"version": 2')}

    with pytest.raises(FormatError, match="newer version"):
        open_archive(rewritten(archive, tmp_path / "new.zip", newer))


def test_an_archive_appears_whole_or_not_at_all(judged, tmp_path, monkeypatch):
    target = tmp_path / "sea.zip"
    target.write_bytes(b"the one before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "settle", full)
    told = command("project", "archive", judged, target, code=1)
    assert "No space left on device; no archive was written" in told
    assert target.read_bytes() == b"the one before"
    assert list(tmp_path.glob(".sea.zip*")) == []


def test_a_project_without_judgements_has_no_archive(tmp_path):
    command("assess", tmp_path / "new", "--docs", ROOT / "articles", "--topics", ROOT / "topics.xml", "--no-serve")
    assert "expected finished judgements" in command("project", "archive", tmp_path / "new", tmp_path / "x.zip", code=1)
    assert not (tmp_path / "x.zip").exists()


def test_judgements_are_not_imported_into_a_project_that_has_some(archive, judged):
    told = command("project", "import", judged, archive, "--docs", ROOT / "articles", code=1)
    assert "import into a new one" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "-m", "charR"),
        ("stats",),
        ("simulate", "--kind", "full", "-o", "x.jsonl"),
        ("convert", "gold.txt", "--to", "inex-2008", "--lossy"),
    ],
)
def test_other_commands_take_an_archive_too(archive, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *options = arguments
    runs = sorted((ROOT / "runs" / "focused").glob("*.xml")) if name == "compare" else []
    assert "Traceback" not in command(name, archive, *runs, *options, "--docs", ROOT / "articles")


def test_grades_of_exhaustivity_are_in_the_archive(tmp_path):
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml", "--exhaustivity"]
    command("assess", tmp_path / "old", *begin, "--no-serve")
    command("project", "add-run", tmp_path / "old", RUN, "--depth", "1")
    project = open_project(tmp_path / "old")
    register(project.store, Assessor("ann"))
    row = pool(project.store)[0]
    page, key = project.documents.get(row.document), Key("ann", row.topic, row.document)
    save(project.store, {"kind": "highlight", "start": 0, "end": 30, "quote": page.text[:30]}, key, page)
    paths = ungraded(page, Judgement(((0, 30),)), "exhaustivity")
    save(project.store, {"kind": "grade", "paths": paths, "grade": "1"}, key, page)
    save(project.store, {"kind": "finish", "relevant": True}, key, page)
    project.close()
    command("project", "archive", tmp_path / "old", tmp_path / "old.zip")
    gold, _ = archive_gold(tmp_path / "old.zip")
    assert set(gold.elements.exhaustivity.tolist()) == {1}
    command("project", "import", tmp_path / "new", tmp_path / "old.zip", "--docs", ROOT / "articles")
    assert command("project", "check", tmp_path / "new") == command("project", "check", tmp_path / "old")


HIDDEN = ("Annabel Lee", "bobby", "leonore", "crowd-7", "ivo", "rufus", "ulrike-q")


@pytest.fixture
def named(tmp_path, monkeypatch):
    """A project in which names stand wherever they can."""
    monkeypatch.setattr("getpass.getuser", lambda: "ulrike-q")
    folder = tmp_path / "named"
    begin, actor = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml"], ["--actor", "leonore"]
    command("assess", folder, *begin, "--assessor", "leonore", "--no-serve")
    command("project", "add-run", folder, RUN, "--depth", "2", *actor)
    command("project", "split", folder, "pool", "--among", "Annabel Lee,bobby", "--overlap", "2", *actor)
    (tmp_path / "how.md").write_text("Ask Annabel Lee, or bobby's twin.\n")
    command("project", "guidelines", folder, tmp_path / "how.md", *actor)
    command("project", "users", "invite", folder, "ivo", "--users", tmp_path / "people", *actor)
    project = open_project(folder)
    store, row = project.store, pool(project.store)[0]
    note_people(store, "add", "rufus", actor="leonore")
    page = project.documents.get(row.document)
    for name, end in (("Annabel Lee", 200), ("bobby", 220)):
        register(store, Assessor(name))
        know_role(store, name, "lead" if name == "bobby" else "assessor")
        key = Key(name, row.topic, row.document)
        edit = {"kind": "highlight", "start": 100, "end": end, "quote": page.text[100:end]}
        save(store, edit, key, page)
        save(store, {"kind": "note", "text": "Bobby is not sure; Annabel Lee is"}, key, page)
        save(store, {"kind": "finish", "relevant": True}, key, page)
    save(store, {"kind": "reopen", "reason": "bobby, look again"}, key, page, actor="leonore")
    save(store, {"kind": "finish", "relevant": True}, key, page)
    of = ["Annabel Lee", "bobby"]
    decide(store, page, row.topic, "union", of, version=0, token="t-decided", actor="leonore")
    model = Assessor("model:llm@1f00ba12", MODEL)
    register(store, model, actor="leonore")
    save(store, {"kind": "finish", "relevant": False}, Key(model.name, row.topic, row.document), page, actor="leonore")
    project.close()
    lines = [{"topic": row.topic, "doc": row.document, "spans": [{"start": 0, "end": 9}], "assessor": "crowd-7"}]
    (tmp_path / "crowd-7.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command("project", "import", folder, tmp_path / "crowd-7.jsonl")
    return folder


def contents(archive):
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def test_an_anonymous_archive_has_nobodys_name_in_it(named, tmp_path):
    command("project", "archive", named, tmp_path / "open.zip", "--imported")
    command("project", "archive", named, tmp_path / "hidden.zip", "--imported", "--anonymous")
    before, after = contents(tmp_path / "open.zip"), contents(tmp_path / "hidden.zip")
    assert all(any(name in text for text in before.values()) for name in HIDDEN), "else this test tests nothing"
    for file, text in after.items():
        found = [name for name in HIDDEN if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", file + text, re.IGNORECASE)]
        assert found == [], file
    assert "model:llm@1f00ba12" in after["README.md"]
    assert "People are called a1, a2" in after["README.md"]
    assert "Ask a1, or a2's twin." in after["guidelines.md"]


def test_only_an_archive_can_be_anonymous(named):
    assert "--anonymous goes with --archive" in command("assess", named, "--anonymous", code=2)


def test_an_anonymous_archive_says_the_same_as_one_with_names(named, tmp_path):
    command("project", "archive", named, tmp_path / "open.zip")
    command("project", "archive", named, tmp_path / "hidden.zip", "--anonymous")
    command("project", "archive", named, tmp_path / "again.zip", "--anonymous")
    assert (tmp_path / "hidden.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    before, after = (contents(tmp_path / name) for name in ("open.zip", "hidden.zip"))
    for same in ("gold/gold.jsonl", "gold/inex-2008.txt", "gold/gold.qrels", "documents.jsonl", "pool.jsonl"):
        assert after[same] == before[same], same
    numbers = [[{**pair, "left": "", "right": ""} for pair in json.loads(text["agreement.json"])["pairs"]]
               for text in (before, after)]  # fmt: skip
    assert sorted(map(str, numbers[0])) == sorted(map(str, numbers[1]))
    command("project", "import", tmp_path / "new", tmp_path / "hidden.zip", "--docs", ROOT / "articles")
    assert command("project", "check", tmp_path / "new") == command("project", "check", named)


def test_an_archive_without_names_comes_from_the_browser_too(named):
    project = open_project(named)
    access = Access(b"k" * 32, frozenset({HOST}), assessor="leonore")
    lead = Client(create_app(project.store, project.documents, project.topics, access), access).enter()
    assert 'name="anonymous" value="yes"' in lead.get("/exchange").text
    for chosen, there in (({}, True), ({"anonymous": "yes"}, False)):
        with zipfile.ZipFile(BytesIO(lead.get("/archive", **chosen).data)) as packed:
            assert (b"leonore" in packed.read("judgements.jsonl")) == there
    project.close()
