"""A project from the command line: begun, split, imported into, exported from, scored, checked."""

import json
import re

import pytest

from focuseval.assessment import Key, open_project, project_gold
from focuseval.assessment.files import held
from focuseval.assessment.plan import Assessor, register
from focuseval.assessment.project import secret
from focuseval.assessment.web.serve import bind
from focuseval.errors import AssessError, FormatError
from focuseval.example import ROOT
from focuseval.formats import read_gold
from focuseval.formats.embedded import read_questions
from strategies.projects import DOCUMENTS, TIDES, begin_project, command, judged_project, judgements


@pytest.fixture
def project(tmp_path):
    return begin_project(tmp_path)


@pytest.fixture
def judged(tmp_path):
    return judged_project(tmp_path)


def test_a_new_project_needs_a_collection_topics_and_a_pool_that_fit(tmp_path, project):
    assert "needs --index" in command("assess", tmp_path / "new", code=1)
    assert "no document 'water/tide'" in command(
        "assess", tmp_path / "new", "--docs", ROOT / "articles" / "people", "--topics", ROOT / "topics.xml",
        "--pool", tmp_path / "pool.jsonl", code=1,
    )  # fmt: skip
    (tmp_path / "q.jsonl").write_text('{"topic": "q1", "query": "Why?"}\n')
    assert "the topics have no '101'" in command(
        "assess", tmp_path / "new2", "--docs", ROOT / "articles", "--topics", tmp_path / "q.jsonl",
        "--pool", tmp_path / "pool.jsonl", code=1,
    )  # fmt: skip


def test_a_project_keeps_its_settings_and_complains_about_a_collection_that_is_gone(project):
    assert "no defect" in command("project", "check", project)
    settings = json.loads((project / "project.json").read_text())
    (project / "project.json").write_text(json.dumps({**settings, "collection": str(project / "gone")}))
    assert "say with --index or --docs" in command("project", "check", project, code=1)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"focuseval": "project"}'])
def test_damaged_settings_are_one_line(project, text):
    (project / "project.json").write_text(text)
    assert "expected a project's settings" in command("project", "check", project, code=1)


def test_a_project_cannot_be_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml"]
    assert "expected a folder" in command("assess", tmp_path / "file" / "x", *begin, code=1)


def test_an_export_of_nothing_is_refused(project, tmp_path):
    with pytest.raises(AssessError, match="found none yet; finish a document"):
        project_gold(project)
    told = command("project", "export", project, tmp_path / "x", "--to", "gold-jsonl", "--adjudicated", code=1)
    assert "found none yet" in told
    assert not (tmp_path / "x").exists()


def test_an_import_is_labelled_and_a_person_s_name_is_not_taken(judged, tmp_path):
    told = command("project", "agreement", judged)
    assert [line.split()[-1] for line in told.splitlines() if line.startswith("documents")] == ["2", "1.000"]
    # 50 characters in common of 140 and 100.
    assert re.search(f"Jaccard +{50 / 190:.3f}\\b.*\n.* F +{100 / 240:.3f}\\b", told)
    opened = open_project(judged)
    register(opened.store, Assessor("ann"))
    opened.close()
    assert "a human assessor" in command("project", "import", judged, judgements(tmp_path, "ann"), code=1)


def test_an_import_again_brings_the_newer_judgements(judged, tmp_path):
    command("project", "import", judged, judgements(tmp_path, "one", (0, 50)))
    opened = open_project(judged)
    saved = opened.store.judgement(Key("one", TIDES, DOCUMENTS[0]))
    assert (saved.version, saved.judgement.highlights) == (2, ((0, 50),))
    count = len(list(opened.store.events()))
    opened.close()
    command("project", "import", judged, judgements(tmp_path, "one", (0, 50)))
    opened = open_project(judged)
    assert len(list(opened.store.events())) == count, "what is known already is no event"
    opened.close()


def test_a_file_imported_under_a_second_name_is_stored_again_and_counted_as_it_is(judged, tmp_path):
    file = judgements(tmp_path, "one", (0, 50))
    told = command("project", "import", judged, file, "--assessor", "three")
    assert "2 judgements of three (imported) stored; " in told
    assert "0 documents outside" in told
    opened = open_project(judged)
    assert opened.store.judgement(Key("three", TIDES, DOCUMENTS[0])).judgement.highlights == ((0, 50),)
    opened.close()
    again = command("project", "import", judged, file, "--assessor", "three")
    assert "0 judgements of three (imported) stored and 2 known already" in again


def test_outside_the_pool_means_the_pool_and_not_somebody_s_part_of_it(judged, tmp_path):
    command("project", "split", judged, "pool", "--among", "ann,bob")
    told = command("project", "import", judged, judgements(tmp_path, "four", (0, 50)))
    assert "0 documents outside the pool" in told
    (tmp_path / "out.jsonl").write_text(
        json.dumps({"topic": TIDES, "doc": "water/sounding", "spans": [], "assessor": "x"})
    )
    assert "1 document outside the pool" in command("project", "import", judged, tmp_path / "out.jsonl")


def test_lines_with_a_path_are_elements_and_join(judged, tmp_path):
    opened = open_project(judged)
    elements = [element for element in opened.documents.get(DOCUMENTS[0]).elements if element.tag == "p"][:2]
    opened.close()
    lines = [{"topic": TIDES, "doc": DOCUMENTS[0], "path": one.path, "assessor": "paths"} for one in elements]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "1 judgement of paths (imported) stored" in command("project", "import", judged, tmp_path / "p.jsonl")
    opened = open_project(judged)
    quotes = opened.store.quotes(Key("paths", TIDES, DOCUMENTS[0]))
    text = opened.documents.get(DOCUMENTS[0]).text
    assert "".join(quote for *_, quote in quotes) == "".join(text[one.start : one.end] for one in elements)
    opened.close()


def test_two_lines_of_one_document_and_an_unknown_topic_are_refused_with_their_line(judged, tmp_path):
    line = json.dumps({"topic": TIDES, "doc": DOCUMENTS[0], "spans": [], "assessor": "x"})
    (tmp_path / "two.jsonl").write_text(f"{line}\n{line}\n")
    assert "two.jsonl:2: expected one line for topic" in command(
        "project", "import", judged, tmp_path / "two.jsonl", code=1
    )
    (tmp_path / "topic.jsonl").write_text(line.replace(TIDES, "999"))
    told = command("project", "import", judged, tmp_path / "topic.jsonl", code=1)
    assert "topic.jsonl:1: expected one of the project's topics, found '999'" in told


@pytest.mark.parametrize("wanted", ["gold-jsonl", "inex-2005", "inex-2008", "trec-qrels"])
@pytest.mark.parametrize("how", ["export", "convert"])
def test_every_export_names_imported_assessors_in_the_file_or_beside_it(judged, tmp_path, wanted, how):
    target = tmp_path / "out"
    asked = ["--to", wanted, "--assessor", "one"]
    if how == "export":
        command("project", "export", judged, target, *asked)
    else:
        command("convert", judged, target, *asked, "--lossy")
    if wanted == "inex-2005":
        assert 'assessor="one (imported)"' in next(target.iterdir()).read_text()
        assert not (tmp_path / "out.assessors.json").exists()
    else:
        told = json.loads((tmp_path / "out.assessors.json").read_text())
        assert told == {"gold": "out", "topics": {TIDES: "one (imported)"}}


@pytest.mark.parametrize("wanted", ["gold-jsonl", "inex-2005", "inex-2008"])
def test_every_export_reads_back_as_the_same_highlights(judged, tmp_path, wanted):
    target = tmp_path / ("out" if wanted == "inex-2005" else "out.txt")
    command("project", "export", judged, target, "--to", wanted, "--assessor", "one")
    opened = open_project(judged)
    gold = read_gold(target, index=opened.documents.index)
    opened.close()
    assert list(gold.topics) == [TIDES]
    assert sorted(gold.passages.start.tolist()) == [100, 300]
    assert sorted(gold.passages.end.tolist()) == [200, 340]
    assert sorted(gold.articles.relevance.tolist()) == [0, 1]
    assert gold.articles.bep.max() == 100


def test_qrels_say_which_documents_are_relevant(judged, tmp_path):
    told = command("project", "export", judged, tmp_path / "out.qrels", "--to", "trec-qrels", "--assessor", "one")
    assert "these are the judgements of one (imported)" in told
    rows = {line.split()[2]: line.split()[3] for line in (tmp_path / "out.qrels").read_text().splitlines()}
    assert rows == {DOCUMENTS[0]: "1", DOCUMENTS[1]: "0"}


def test_a_project_is_gold_by_assessor_and_asks_which_when_there_are_several(judged):
    gold = project_gold(judged, assessor="one")
    assert gold.articles.rsize.tolist() == [0, 140]
    assert gold.attributes[TIDES] == {"assessor": "one (imported)"}
    assert gold.queries[TIDES].startswith("cause of")
    assert gold.sha256 != project_gold(judged, assessor="two").sha256
    with pytest.raises(AssessError, match="judgements of adjudicated, found none yet"):
        project_gold(judged, adjudicated=True)
    with pytest.raises(AssessError, match="among one, two"):
        project_gold(judged)
    with pytest.raises(AssessError, match="found 'three'"):
        project_gold(judged, assessor="three")
    with pytest.raises(AssessError, match="found both"):
        project_gold(judged, assessor="one", adjudicated=True)


def test_score_reads_the_project_itself_with_its_own_collection(judged, tmp_path):
    run = ROOT / "runs" / "focused" / "careful.xml"
    asked = ["-m", "charR", "--format", "json"]
    command("project", "export", judged, tmp_path / "gold.jsonl", "--to", "gold-jsonl", "--assessor", "two")
    told = [
        command("score", tmp_path / "gold.jsonl", run, *asked, "--docs", ROOT / "articles"),
        command("score", judged, run, *asked, "--assessor", "two"),
    ]
    values = [json.loads(text[text.index("{") : text.rindex("}") + 1])["runs"][0]["measures"] for text in told]
    assert values[0] == values[1]
    assert "among one, two" in command("score", judged, run, *asked, code=1)
    assert "is none" in command("score", tmp_path / "gold.jsonl", run, "--adjudicated", code=2)


def test_everything_goes_out_and_into_a_new_project(judged, tmp_path):
    command("project", "export", judged, tmp_path / "all.jsonl")
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml"]
    command("project", "import", tmp_path / "copy", tmp_path / "all.jsonl", *begin)
    command("project", "export", tmp_path / "copy", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "all.jsonl").read_text()
    assert "no defect" in command("project", "check", tmp_path / "copy")
    assert "import into a new one" in command("project", "import", judged, tmp_path / "all.jsonl", code=1)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda lines: lines[:-1], "found none"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"version": 1', '"version": 2')], "another judgement"),
        (lambda lines: [lines[0], "{}", "nonsense"], "expected a JSON object"),
        (lambda lines: [lines[0], '{"event": {}}'], "expected the event's 'at'"),
        (lambda lines: ['{"focuseval": "assessments", "version": 9}'], "first line"),
    ],
)
def test_a_damaged_export_is_refused_whole(judged, tmp_path, damage, complaint):
    command("project", "export", judged, tmp_path / "all.jsonl")
    lines = damage((tmp_path / "all.jsonl").read_text().rstrip("\n").split("\n"))
    (tmp_path / "bad.jsonl").write_text("\n".join(lines) + "\n")
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml"]
    told = command("project", "import", tmp_path / "copy", tmp_path / "bad.jsonl", *begin, code=1)
    assert complaint in told
    opened = open_project(tmp_path / "copy")
    assert list(opened.store.events()) == []
    opened.close()


def test_documents_are_dealt_out(project):
    told = command("project", "split", project, "pool", "--among", "ann, bob")
    assert told.split("\n")[:2] == ["ann: 1 document", "bob: 1 document"]
    assert "--among" in command("project", "split", project, "topics", code=2)


def test_stability_ranks_runs_with_other_assessors_and_depths(judged):
    runs = sorted((ROOT / "runs" / "focused").glob("*.xml"))
    told = command("project", "stability", judged, *runs, "-m", "charR")
    pairs = [re.split("  +", line)[:2] for line in told.splitlines()]
    assert ["one (imported)", "two (imported)"] in pairs
    assert ["one (imported), depth 1", "whole pool"] in pairs
    assert ["two (imported), depth 1", "whole pool"] in pairs


def test_after_a_split_of_the_pool_those_who_judged_alike_order_the_runs_alike(tmp_path, judged):
    runs = sorted((ROOT / "runs" / "focused").glob("*.xml"))
    lines = judgements(tmp_path, "half", (100, 200), (300, 340)).read_text().split("\n")
    (tmp_path / "half.jsonl").write_text(lines[0] + "\n")
    (tmp_path / "rest.jsonl").write_text(lines[1].replace('"half"', '"rest"') + "\n")
    command("project", "import", judged, tmp_path / "half.jsonl")
    command("project", "import", judged, tmp_path / "rest.jsonl")
    told = command("project", "stability", judged, *runs, "-m", "charR")
    pairs = {tuple(parts[:2]): parts[2:] for line in told.splitlines() if len(parts := re.split("  +", line)) == 4}
    assert pairs["half (imported)", "one (imported)"] == ["1", "1.000"]
    assert pairs["half (imported)", "rest (imported)"] == ["0", "–"]


def test_users_are_added_with_a_password_that_is_asked_for(project, tmp_path):
    people = tmp_path / "people"
    command("project", "users", "add", project, "lea", "--users", people, "--role", "lead", stdin="sea\nsea\n")
    assert people.read_text().startswith("lea:lead:scrypt$")
    assert "Missing option '--users'" in command("project", "users", "add", project, "bob", code=2)
    told = command("project", "users", "add", project, "a/b", "--users", people, stdin="x\nx\n", code=1)
    assert "without colon or slash" in told
    told = command("project", "users", "add", project, "#bob", "--users", people, stdin="x\nx\n", code=1)
    assert "not beginning with #" in told
    assert "cannot be written" in command(
        "project", "users", "add", project, "bob", "--users", tmp_path / "none" / "x", stdin="x\nx\n", code=1
    )


def test_a_person_cannot_work_under_an_imported_name(judged):
    assert "an imported assessor" in command("assess", judged, "--assessor", "one", "--port", "0", code=1)


def test_a_port_that_is_taken_is_one_line(project):
    taken = bind()
    told = command("assess", project, "--port", taken.getsockname()[1], code=1)
    taken.close()
    assert "choose another with --port" in told


def test_a_second_server_on_one_project_is_refused(project):
    secret(project)
    with held(project / "secret", alone=True, refusal=""):
        assert "another server serves this project" in command("assess", project, "--port", "0", code=1)


def test_a_network_needs_users(project):
    assert "a network needs named assessors" in command("assess", project, "--host", "0.0.0.0", code=1)


def test_a_check_that_finds_something_fails(judged):
    opened = open_project(judged)
    with opened.store.database.write() as connection:
        connection.execute("UPDATE highlights SET quote = 'other'")
    opened.close()
    told = command("project", "check", judged, code=1)
    assert "is not the text there" in told


@pytest.mark.parametrize("text", ["", "x\n", '{"title": ""}\n', '{"topic": "1"}\n', "3\n", "[]\n"])
def test_questions_that_cannot_be_read_are_refused_with_their_place(tmp_path, text):
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(FormatError, match=r"q\.jsonl(:1)?: expected"):
        read_questions(tmp_path / "q.jsonl")


def test_a_run_is_no_file_of_questions_though_its_results_have_texts(tmp_path):
    row = {"topic": "q1", "text": "Warm the pot."}
    (tmp_path / "run.jsonl").write_text(json.dumps(row | {"doc": "tea.md", "rank": 1}))
    with pytest.raises(FormatError, match=r"run\.jsonl: expected topics, found a run \(run-jsonl\)"):
        read_questions(tmp_path / "run.jsonl")
    for more in ({}, {"metadata": {}}, {"source": "the web"}):
        (tmp_path / "q.jsonl").write_text(json.dumps(row | more))
        assert [one.title for one in read_questions(tmp_path / "q.jsonl")] == ["Warm the pot."]


def test_questions_come_from_lines_of_json_and_from_gold(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"topic": 1, "query": "Why?", "doc": "a"}\n{"topic": "1", "doc": "b"}\n')
    (topic,) = read_questions(tmp_path / "q.jsonl")
    assert (topic.id, topic.title) == ("1", "Why?")
