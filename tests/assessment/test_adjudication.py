"""One gold from what several people judged: decisions, single judgements, and a rule for the rest."""

import json

import pytest

from focuseval.assessment import Key, open_project, project_gold
from focuseval.assessment.adjudication import MERGES, decide
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, know_role, register
from focuseval.cli import options
from focuseval.errors import AssessError
from focuseval.example import ROOT
from strategies.assessing import mark, save
from strategies.projects import TIDES, begin_project, command
from strategies.remarks import lines_of

RUN = ROOT / "runs" / "focused" / "careful.xml"
DECIDED, SINGLE, BOTH, APART = "water/tide", "water/rock-pool", "water/sounding", "water/tide-table"


@pytest.fixture
def project(tmp_path):
    """Ann and bob: one document decided, one judged once, one twice, one twice with nothing in common."""
    folder = begin_project(tmp_path)
    opened = open_project(folder)
    add_to_pool(opened.store, [Pooled(TIDES, BOTH), Pooled(TIDES, APART)], actor="lea")
    told = {
        "ann": {DECIDED: (0, 30), SINGLE: (0, 20), BOTH: (0, 40), APART: (0, 10)},
        "bob": {DECIDED: (10, 50), BOTH: (20, 60), APART: (20, 30)},
    }
    for name, documents in told.items():
        register(opened.store, Assessor(name))
        for document, span in documents.items():
            page, key = opened.documents.get(document), Key(name, TIDES, document)
            save(opened.store, mark(*span, text=page.text), key=key, page=page)
            save(opened.store, {"kind": "finish", "relevant": True}, key=key, page=page)
    page = opened.documents.get(DECIDED)
    decide(opened.store, page, TIDES, "intersection", ["ann", "bob"], version=0, token="decision", actor="lea")
    opened.close()
    return folder


def spans(gold):
    names = gold.documents.to_pylist()
    rows = zip(gold.passages.document.tolist(), gold.passages.start.tolist(), gold.passages.end.tolist(), strict=True)
    return {names[document]: (start, end) for document, start, end in rows}


@pytest.mark.parametrize(
    ("rule", "both", "apart"),
    [("union", (0, 60), (0, 30)), ("intersection", (20, 40), None), ("majority", (20, 40), None)],
)
def test_decisions_and_single_judgements_come_before_the_rule(project, rule, both, apart):
    gold = project_gold(project, merge=rule)
    found = spans(gold)
    assert (found[DECIDED], found[SINGLE], found[BOTH]) == ((10, 30), (0, 20), both)
    assert (APART in gold.documents.to_pylist()) == (apart is not None), "what is open is left out"
    counts = f"1 decided, 1 single, {1 + (apart is not None)} by {rule}" + (", 1 open" if apart is None else "")
    assert counts in lines_of(gold)[0]


def test_the_command_line_offers_every_rule():
    assert options.MERGES == MERGES


def test_quotes_are_the_text_that_was_merged(project):
    gold = project_gold(project, merge="union")
    opened = open_project(project)
    for name, (start, end), quote in zip(
        spans(gold), spans(gold).values(), gold.passages.quote.to_pylist(), strict=False
    ):
        if name in (BOTH, DECIDED):
            assert opened.documents.get(name).text[start:end] == quote
    opened.close()


def test_the_lead_s_own_judgement_counts_where_there_is_one(project):
    with pytest.raises(AssessError, match="expected a lead, found none"):
        project_gold(project, merge="lead")
    assert spans(project_gold(project, merge="lead", assessor="bob"))[BOTH] == (20, 60)
    opened = open_project(project)
    know_role(opened.store, "ann", "lead")
    opened.close()
    assert spans(project_gold(project, merge="lead"))[BOTH] == (0, 40)


def test_an_imported_assessor_takes_part_only_when_asked(project, tmp_path):
    lines = [{"topic": TIDES, "doc": BOTH, "spans": [{"start": 100, "end": 120}], "assessor": "model"}]
    lines += [{"topic": TIDES, "doc": "water/nautical-chart", "spans": [{"start": 0, "end": 9}], "assessor": "model"}]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command("project", "import", project, tmp_path / "m.jsonl")
    people = project_gold(project, merge="union")
    assert "water/nautical-chart" not in people.documents.to_pylist()
    assert people.attributes[TIDES]["assessor"] == "adjudicated, ann, bob"
    everyone = project_gold(project, merge="union", imported=True)
    assert spans(everyone)["water/nautical-chart"] == (0, 9)
    assert everyone.passages.start.tolist().count(100) == 1
    assert "model (imported)" in everyone.attributes[TIDES]["assessor"]


def test_score_prints_the_counts_beside_the_means(project):
    told = command("score", project, RUN, "-m", "charR", "--merge", "intersection")
    line = "judged documents: 1 decided, 1 single, 1 by intersection, 1 open, and left out"
    assert told.count(line) == 2, "among the remarks, and below the table"
    told = command("score", project, RUN, "-m", "charR", "--merge", "union", "--format", "json")
    values = json.loads(told[told.index("{") : told.rindex("}") + 1])
    assert values["judged"] == {"decided": 1, "single": 1, "union": 2}
    assert "|merge:union" in values["signature"]


@pytest.mark.parametrize("wanted", ["gold-jsonl", "inex-2005", "inex-2008", "trec-qrels"])
def test_a_merged_export_scores_as_the_merged_project_does(project, tmp_path, wanted):
    target = tmp_path / "out"
    told = command("project", "export", project, target, "--to", wanted, "--merge", "union")
    assert "1 decided, 1 single, 2 by union" in told
    measure = "P@5" if wanted == "trec-qrels" else "charR"
    asked = ["-m", measure, "--format", "json"]
    both = [command("score", target, RUN, *asked, "--docs", ROOT / "articles"),
            command("score", project, RUN, *asked, "--merge", "union")]  # fmt: skip
    values = [json.loads(text[text.index("{") : text.rindex("}") + 1])["runs"][0]["measures"] for text in both]
    assert values[0] == values[1]


def test_a_rule_and_an_assessor_contradict_each_other(project, tmp_path):
    told = command("score", project, RUN, "-m", "charR", "--merge", "union", "--assessor", "ann", code=1)
    assert "expected --merge, or --assessor or --adjudicated, found both" in told
    command("project", "export", project, tmp_path / "g.jsonl", "--to", "gold-jsonl", "--adjudicated")
    told = command("score", tmp_path / "g.jsonl", RUN, "-m", "charR", "--merge", "union", code=2)
    assert "need an assessment project" in told


def test_a_stale_decision_is_told_with_the_scores(project):
    opened = open_project(project)
    page = opened.documents.get(DECIDED)
    save(opened.store, mark(60, 70, text=page.text), key=Key("ann", TIDES, DECIDED), page=page)
    opened.close()
    for asked in (["--adjudicated"], ["--merge", "union"]):
        told = command("score", project, RUN, "-m", "charR", *asked)
        assert "1 decisions are older than a judgement under them, the first of water/tide for topic 101" in told


def test_judgements_of_different_texts_are_not_merged(project):
    opened = open_project(project)
    with opened.store.database.write() as connection:
        connection.execute("UPDATE judgements SET text_sha256 = 'x' WHERE assessor = 'ann' AND document = ?", (BOTH,))
    opened.close()
    with pytest.raises(AssessError, match="judged different texts of water/sounding"):
        project_gold(project, merge="union")
