"""A pool that knows where its documents came from, grows by runs, and says before what they would add."""

import json
from io import BytesIO

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.plan import Assessor, register
from focuseval.assessment.pool import (
    add_pool,
    build_pool,
    grown,
    keep_run,
    kept_runs,
    project_pool,
    read_pool,
    returned_parts,
    why_pooled,
    write_pool,
)
from focuseval.assessment.project import choose
from focuseval.assessment.store import Key
from focuseval.assessment.web import Access, create_app
from focuseval.errors import FormatError
from focuseval.example import ROOT
from focuseval.formats import read_run
from strategies.assessing import save
from strategies.projects import command

from .conftest import HOST, Client

RUNS = sorted((ROOT / "runs" / "focused").glob("*.xml"))


@pytest.fixture
def project(tmp_path):
    opened = open_project(tmp_path / "sea", collection=str(ROOT / "articles"), topics=str(ROOT / "topics.xml"))
    register(opened.store, Assessor("ann"))
    yield opened
    opened.close()


def read(path, project):
    return read_run(path, index=project.documents.index)


def test_runs_added_one_by_one_are_the_pool_of_all_with_their_provenance(project):
    for path in RUNS:
        after, _ = grown(project.store, [read(path, project)], depth=3)
        add_pool(project.store, after, actor="lea")
    found, whole = project_pool(project.store), build_pool([read(path, project) for path in RUNS], depth=3)
    assert {(e.topic, e.document) for e in found.entries} == {(e.topic, e.document) for e in whole.entries}
    assert [one.run for one in found.contributors] == [one.run for one in whole.contributors]
    assert [one.batch for one in found.contributors] == [0, 1, 2]
    brought = {(e.topic, e.document): (sorted(e.by), e.best) for e in found.entries}
    assert brought == {(e.topic, e.document): (sorted(e.by), e.best) for e in whole.entries}


def test_what_a_run_would_add_is_what_it_adds(project):
    add_pool(project.store, build_pool([read(RUNS[0], project)], depth=4), actor="lea")
    before = project_pool(project.store)
    after, rows = grown(project.store, [read(RUNS[1], project)], depth=4)
    assert project_pool(project.store) == before, "looking changes nothing"
    fresh = add_pool(project.store, after, actor="lea")
    assert fresh == sum(row.fresh for row in rows) == len(project_pool(project.store).entries) - len(before.entries)
    assert sum(row.pooled for row in rows) == len(before.entries)
    again, rows = grown(project.store, [read(RUNS[1], project)], depth=4)
    assert sum(row.fresh for row in rows) == 0
    assert add_pool(project.store, again, actor="lea") == 0


def test_what_is_judged_is_counted_among_what_a_run_returns(project):
    pool = build_pool([read(RUNS[0], project)], depth=2)
    add_pool(project.store, pool, actor="lea")
    first = pool.entries[0]
    page = project.documents.get(first.document)
    save(project.store, {"kind": "finish", "relevant": False}, Key("ann", first.topic, first.document), page)
    _, rows = grown(project.store, [read(RUNS[0], project)], depth=2)
    assert sum(row.judged for row in rows) == sum(row.judged_returned for row in rows) == 1


def test_a_pool_s_file_with_its_provenance_goes_in_and_comes_out_the_same(project, tmp_path):
    runs = [read(path, project) for path in RUNS]
    whole = build_pool(runs[2:], depth=2, base=build_pool(runs[:2], depth=3))
    write_pool(whole, tmp_path / "pool.jsonl")
    add_pool(project.store, read_pool(tmp_path / "pool.jsonl"), actor="lea")
    found = project_pool(project.store)
    assert {e.document: e.by for e in found.entries if e.topic == "101"} == {
        e.document: e.by for e in whole.entries if e.topic == "101"
    }
    assert add_pool(project.store, whole, actor="lea") == 0
    assert project_pool(project.store) == found, "the same pool again is no news"


def test_a_document_says_why_it_is_there(project):
    add_pool(project.store, build_pool([read(path, project) for path in RUNS], depth=3), actor="lea")
    entry, runs = why_pooled(project_pool(project.store), "101", project_pool(project.store).entries[0].document)
    assert entry.runs == 3
    assert [run.run for run in runs] == ["careful", "coarse", "hasty"]
    assert why_pooled(project_pool(project.store), "101", "nowhere") == (None, [])


def test_a_run_that_is_pooled_again_deeper_is_named_once(lead, project):
    for depth in ("2", "3"):
        name = upload(lead, RUNS[0]).location.partition("run=")[2].partition("&")[0]
        lead.post("/pool/add", data={"run": name, "depth": depth})
    entry, runs = why_pooled(project_pool(project.store), "101", project_pool(project.store).entries[0].document)
    assert (entry.runs, [run.depth for run in runs]) == (1, [2])
    page = lead.get("/pool").text
    assert "1 pooled run<" in page
    assert page.count(f"<td>{runs[0].run}</td>") == 1
    assert '<td class="number">3</td>' in page, "the greatest depth"


def test_a_run_s_name_never_becomes_a_path(project):
    data = RUNS[0].read_bytes()
    for name in ("../../evil.xml", "/etc/passwd", "..\\..\\x.xml", "a b\x00c.xml", ".hidden", "é/ü.xml", "x" * 300):
        kept = keep_run(project.folder, name, data, index=project.documents.index)
        assert kept.parent == project.folder / "runs"
        assert kept_runs(project.folder) == [kept]
        kept.unlink()


def test_a_file_that_is_no_run_is_not_kept(project):
    with pytest.raises(FormatError):
        keep_run(project.folder, "x.xml", b"<nonsense", index=project.documents.index)
    with pytest.raises(FormatError, match=r"found a gold .*; give a run here"):
        keep_run(project.folder, "x.qrels", b"101 0 water/tide 1\n", index=project.documents.index)
    assert list((project.folder / "runs").iterdir()) == []


@pytest.fixture
def lead(project):
    access = Access(b"k" * 32, frozenset({HOST}), assessor="lea")
    app = create_app(project.store, project.documents, project.topics, access)
    client = Client(app, access).enter()
    client.learn("/guidelines")
    return client


def upload(client, path, **values):
    data = {"file": (BytesIO(path.read_bytes()), path.name), "depth": "3", **values}
    return client.post("/pool", data=data, content_type="multipart/form-data")


def test_a_lead_grows_the_pool_in_the_browser_and_sees_the_ranking(lead, project):
    assert lead.get("/").location == "/dashboard"
    for path in RUNS:
        place = upload(lead, path).location
        assert "more documents to judge" in lead.get(place).text
        name = place.partition("run=")[2].partition("&")[0]
        assert lead.post("/pool/add", data={"run": name, "depth": "3"}).status_code == 302
    assert len(kept_runs(project.folder)) == 3
    assert [one.run for one in project_pool(project.store).contributors] == ["careful", "coarse", "hasty"]
    page = lead.get("/pool").text
    assert "careful" in page
    entry = project_pool(project.store).entries[0]
    values = {"topic": entry.topic, "document": entry.document}
    assert "expected finished judgements" in lead.get("/ranking").text or "–" in lead.get("/ranking").text
    text = project.documents.get(entry.document).text
    edit = {"kind": "highlight", "start": 0, "end": 40, "quote": text[:40]}
    assert lead.post("/api/edit", {**values, "edit": edit, "version": 0, "token": "token-0001"}).status_code == 200
    finish = {"kind": "finish", "relevant": True}
    assert lead.post("/api/edit", {**values, "edit": finish, "version": 1, "token": "token-0002"}).status_code == 200
    page = lead.get("/ranking", measure="charR").text
    assert "0 for no relation, −1 for the reverse" in page
    assert "1 of" in page
    assert "first 50%" in page
    assert "careful" in page
    assert "pooled to depth 3" in lead.get("/adjudicate/document", **values).text


def test_a_run_is_forgotten_and_what_it_brought_stays(lead, project):
    name = upload(lead, RUNS[0]).location.partition("run=")[2].partition("&")[0]
    lead.post("/pool/add", data={"run": name, "depth": "3"})
    before = project_pool(project.store)
    assert lead.post("/pool/forget", data={"run": "../project.json"}).status_code == 404
    assert lead.post("/pool/forget", data={"run": name}).status_code == 302
    assert kept_runs(project.folder) == []
    assert project_pool(project.store) == before
    assert [told["did"] for _, told in project.store.project_events("run")] == ["keep", "forget"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/pool/preview?run=../project.json", 404),
        ("/pool/preview?run=", 404),
        ("/pool/preview?run=..", 404),
        ("/pool/preview?run=secret", 404),
        ("/ranking?measure=nonsense", 200),
    ],
)
def test_a_wrong_run_or_measure_is_told(lead, path, status):
    upload(lead, RUNS[0])
    answer = lead.get(path)
    assert answer.status_code == status
    assert 'class="problem"' in answer.text


def test_a_wrong_depth_or_file_is_told(lead, project):
    assert upload(lead, RUNS[0], depth="0").status_code == 422
    assert upload(lead, RUNS[0], depth="x").status_code == 422
    assert upload(lead, ROOT / "topics.xml").status_code == 422
    assert project_pool(project.store).entries == ()


def test_the_command_line_says_what_a_run_would_add_and_adds_it(project, tmp_path):
    folder = tmp_path / "sea"
    told = json.loads(command("project", "add-run", folder, RUNS[0], "--depth", "2", "--preview", "--json"))
    assert told
    assert project_pool(project.store).entries == ()
    assert "documents added to the pool" in command("project", "add-run", folder, RUNS[0], "--depth", "2")
    assert len(project_pool(project.store).entries) > 0
    assert "ann" in command("project", "progress", folder)


def test_a_run_from_the_browser_is_in_the_pool_under_the_name_of_its_file(lead, project):
    name = upload(lead, RUNS[0]).location.partition("run=")[2].partition("&")[0]
    lead.post("/pool/add", data={"run": name, "depth": "3"})
    assert [one.file for one in project_pool(project.store).contributors] == ["careful.xml"]


def test_the_parts_that_runs_returned_are_those_that_their_rows_say(project):
    runs = [read(path, project) for path in RUNS]
    ids = project.documents.index.ids.to_pylist()
    topic, document = runs[0].topics[0], str(runs[0].document[0])
    slow = {}
    for run in runs:
        for row in range(len(run)):
            if (
                run.topics[run.topic[row]] == topic
                and ids[run.placement.document[row]] == document
                and run.start[row] >= 0
            ):
                names = slow.setdefault((int(run.start[row]), int(run.end[row])), [])
                names.extend([run.run_id] if run.run_id not in names else [])
    assert returned_parts(runs, topic, ids.index(document)) == slow
    assert slow


def test_assessors_see_what_runs_returned_as_far_as_a_lead_has_chosen(project):
    for path in RUNS:
        keep_run(project.folder, path.name, path.read_bytes(), index=project.documents.index)
    runs = [read(path, project) for path in RUNS]
    add_pool(project.store, build_pool(runs, depth=3), actor="lea")
    access = Access(b"k" * 32, frozenset({HOST}), assessor="ann")
    client = Client(create_app(project.store, project.documents, project.topics, access), access).enter()
    row = project_pool(project.store).entries[0]

    def pooled():
        return client.get("/api/document", topic=row.topic, document=row.document).json["pooled"]

    assert pooled() == [], "blind, unless a lead decides otherwise"
    client.learn("/guidelines")
    client.post("/guidelines/settings", data={"pooled": "marked", "snap": "words", "csrf": client.csrf})
    marked = pooled()
    assert marked
    assert all(names == [] for *_, names in marked)
    choose(project.store, "pooled", "named", actor="lea")
    assert {name for *_, names in pooled() for name in names} <= {run.run_id for run in runs}
    assert any(names for *_, names in pooled())
    assert [edit["to"] for _, edit in project.store.project_events("pooled")] == ["marked", "named"]
    assert not project.store.project_events("snap"), "what stays as it is makes no event"
