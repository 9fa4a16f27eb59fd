"""The scales of INEX 2002 to 2004: pairs of grades on elements, their rules, and the files that hold them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.assessment import Key, open_project, project_gold
from focuseval.assessment.adjudication import SharedDocuments, combine
from focuseval.assessment.archive import archive_gold
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, pool, register
from focuseval.assessment.rules import SCALES, Judgement, apply, check, contradictions, ungraded
from focuseval.assessment.store import Store
from focuseval.assessment.web import Access, create_app
from focuseval.errors import AssessError
from focuseval.example import ROOT
from focuseval.formats import read_gold
from strategies.assessing import PAGE, mark, save
from strategies.pages import TOPICS, Pages, extents_of
from strategies.projects import command

from .conftest import HOST, Client

ARTICLE, TITLE, PARAGRAPH, BOLD = "/article[1]", "/article[1]/title[1]", "/article[1]/p[1]", "/article[1]/p[1]/b[1]"
RUN = next(iter(sorted((ROOT / "runs" / "thorough").glob("*.xml"))))


def graded(grades, scale="grades", start=None):
    judgement = start or Judgement()
    for path, grade in grades.items():
        edit = {"kind": "grade", "paths": [path], "grade": grade}
        check(judgement, edit, PAGE, scale=scale)
        judgement = apply(judgement, edit)
    return judgement


def finish(judgement, *, relevant=True, scale="grades"):
    check(judgement, {"kind": "finish", "relevant": relevant}, PAGE, scale=scale)


@pytest.mark.parametrize("scale", ["coverage", "grades"])
def test_nothing_is_highlighted_where_elements_are_graded(scale):
    with pytest.raises(AssessError, match=r"^this project grades elements; nothing is highlighted$"):
        check(Judgement(), mark(0, 5), PAGE, scale=scale)
    whole = {"highlights": [[0, 5]], "bep": None, "status": "relevant", "flagged": False, "note": "", "grades": {}}
    with pytest.raises(AssessError, match=r"^this project grades elements"):
        check(Judgement(), {"kind": "replace", "judgement": whole}, PAGE, scale=scale)


@pytest.mark.parametrize(
    ("scale", "wrong"), [("coverage", "33"), ("grades", "3E"), ("grades", "03"), ("coverage", "3S")]
)
def test_a_grade_of_another_scale_is_refused(scale, wrong):
    with pytest.raises(AssessError, match=r"^on the project's scale expected one of 0"):
        graded({TITLE: wrong}, scale)


def test_all_around_something_relevant_needs_a_grade():
    bold = graded({BOLD: "33"})
    assert ungraded(PAGE, bold, "grades") == [ARTICLE, PARAGRAPH]
    with pytest.raises(AssessError, match=r"^2 elements have no grade yet, the first is /article\[1\]$"):
        finish(bold)
    with pytest.raises(AssessError, match=r"^1 element has no grade yet"):
        finish(graded({BOLD: "33", PARAGRAPH: "31"}))
    assert ungraded(PAGE, graded({BOLD: "00"}), "grades") == [], "nothing is relevant there"
    finish(graded({BOLD: "33", PARAGRAPH: "31", ARTICLE: "31"}))


def test_a_container_is_at_least_as_exhaustive_as_what_it_contains():
    inside = graded({BOLD: "33", PARAGRAPH: "22", ARTICLE: "31"})
    line = f"{PARAGRAPH} (22) is less exhaustive than {BOLD} (33), which it contains"
    assert contradictions(PAGE, inside.grades, "grades") == [line]
    with pytest.raises(AssessError, match="which it contains"):
        finish(inside)
    early = {BOLD: "3E", PARAGRAPH: "2L", ARTICLE: "3L"}
    line = f"{PARAGRAPH} (2L) is less relevant than {BOLD} (3E), which it contains"
    assert contradictions(PAGE, early, "coverage") == [line]


def test_nothing_inside_an_irrelevant_element_is_relevant():
    assert "is less exhaustive than" in contradictions(PAGE, {PARAGRAPH: "00", BOLD: "11"}, "grades")[0]


def test_only_a_container_without_text_of_its_own_is_bound_by_its_children():
    own = {BOLD: "11", PARAGRAPH: "13"}  # the paragraph has words around the bold ones
    assert contradictions(PAGE, own, "grades") == []
    blank = {one.path: "11" for one in PAGE.elements if one.parent == 0} | {ARTICLE: "13"}
    between = PAGE.text
    for one in PAGE.elements:
        if one.parent == 0:
            between = between[: one.start] + " " * (one.end - one.start) + between[one.end :]
    expected = [] if between.strip() else [f"{ARTICLE} (13) is more specific than everything that it contains"]
    assert contradictions(PAGE, blank, "grades") == expected
    assert contradictions(PAGE, blank | {ARTICLE: "11"}, "grades") == []


@given(st.dictionaries(st.sampled_from([one.path for one in PAGE.elements]), st.sampled_from(SCALES["grades"])))
def test_less_exhaustive_containers_are_those_that_a_look_at_all_pairs_finds(grades):
    slow = {
        f"{outer} ({grades[outer]}) is less exhaustive than {inner} ({grades[inner]}), which it contains"
        for outer in grades
        for inner in grades
        if inner.startswith(f"{outer}/") and int(grades[outer][0]) < int(grades[inner][0])
    }
    assert {line for line in contradictions(PAGE, grades, "grades") if "less exhaustive" in line} == slow


def test_a_document_with_a_relevant_element_is_relevant():
    with pytest.raises(AssessError, match=r"^a relevant document needs at least one relevant element$"):
        finish(graded({ARTICLE: "00"}))
    with pytest.raises(AssessError, match=r"^a document with relevant elements is relevant; remove them"):
        finish(graded({ARTICLE: "11"}), relevant=False)
    finish(graded({ARTICLE: "00"}), relevant=False)


def test_grades_that_differ_are_decided_by_people():
    one, other = (Judgement(grades={ARTICLE: grade}, status="relevant") for grade in ("11", "21"))
    assert combine([one, one], "union").grades == {ARTICLE: "11"}
    with pytest.raises(AssessError, match="grades that differ are not merged"):
        combine([one, other], "union")


def test_a_model_is_not_asked_where_elements_are_graded(tmp_path):
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml", "--scale", "inex2003", "--no-serve"]
    command("assess", tmp_path / "old", *begin)
    asked = ("judge", tmp_path / "old", "--endpoint", "http://localhost:1", "--model", "m", "--dry-run")
    assert "a model quotes text, and this project grades elements" in command(*asked, code=1)


def test_who_grades_otherwise_does_not_agree_and_the_adjudicator_sees_where(tmp_path, users):
    store, pages = Store(tmp_path / "pairs.db", scale="grades"), Pages(PAGE)
    add_to_pool(store, [Pooled("11", PAGE.id)], actor="lea")
    given = {"ann": {BOLD: "33", PARAGRAPH: "31", ARTICLE: "31"}, "bob": {BOLD: "33", PARAGRAPH: "32", ARTICLE: "31"}}
    for name, grades in given.items():
        register(store, Assessor(name))
        for path, grade in grades.items():
            save(store, {"kind": "grade", "paths": [path], "grade": grade}, Key(name, "11", PAGE.id), PAGE)
        save(store, {"kind": "finish", "relevant": True}, Key(name, "11", PAGE.id), PAGE)
    (shared,) = SharedDocuments(store, lambda _: extents_of(PAGE)).documents()
    assert (shared.agreed, shared.jaccard) == (False, 0.5)
    access = Access(b"k" * 32, frozenset({HOST}), users=users)
    client = Client(create_app(store, pages, TOPICS, access), access)
    client.log_in("lea")
    where = {"topic": "11", "document": PAGE.id}
    bold = PAGE.elements[PAGE.row_of[BOLD]]
    sides = client.get("/api/sides", **where).json["sides"]
    assert [side["highlights"] for side in sides] == [[[bold.start, bold.end]]] * 2
    asked = {**where, "version": 0, "token": "decide-0001"}
    assert client.post("/api/decide", {**asked, "rule": "union", "of": ["ann", "bob"]}).status_code == 422
    decided = client.post("/api/decide", {**asked, "rule": "one", "of": ["bob"]}).json["decided"]
    assert (decided["status"], decided["grades"]) == ("relevant", given["bob"])
    store.close()


@pytest.mark.parametrize(
    ("scale", "pair", "wanted", "measure"),
    [("inex2002", "3E", "inex-2002", "i2AP"), ("inex2003", "33", "inex-2003", "i3AP")],
)
def test_a_project_of_those_years_is_exported_scored_and_archived(tmp_path, scale, pair, wanted, measure):
    begin = ["--docs", ROOT / "articles", "--topics", ROOT / "topics.xml", "--scale", scale, "--no-serve"]
    command("assess", tmp_path / "old", *begin)
    command("project", "add-run", tmp_path / "old", RUN, "--depth", "2")
    project = open_project(tmp_path / "old")
    register(project.store, Assessor("ann"))
    rows = [row for row in pool(project.store) if row.topic == pool(project.store)[0].topic]
    for number, row in enumerate(rows):
        page, key = project.documents.get(row.document), Key("ann", row.topic, row.document)
        if not number:
            save(project.store, {"kind": "grade", "paths": [page.elements[0].path], "grade": pair}, key, page)
        save(project.store, {"kind": "finish", "relevant": not number}, key, page)
    project.close()
    command("project", "export", tmp_path / "old", tmp_path / "gold", "--to", wanted)
    read, own = read_gold(tmp_path / "gold"), project_gold(tmp_path / "old")
    for gold in (read, own):
        assert gold.scale == {"inex2002": "coverage", "inex2003": "grades"}[scale]
        assert gold.elements.exhaustivity.tolist() == [3, *[0] * (len(rows) - 1)]
        assert gold.elements.specificity.tolist() == [3, *[0] * (len(rows) - 1)]
        assert gold.elements.inferred.tolist() == [False, *[True] * (len(rows) - 1)]
    options = ("-m", measure, "--task", "thorough", "--docs", ROOT / "articles", "--format", "json")
    values = []
    for name in ("gold", "old"):
        command("score", tmp_path / name, RUN, *options, "-o", tmp_path / "scores.json")
        values += json.loads((tmp_path / "scores.json").read_text())["runs"][0]["measures"].values()
    assert values[0] == values[1] > 0
    command("project", "archive", tmp_path / "old", tmp_path / "old.zip")
    assert archive_gold(tmp_path / "old.zip")[0].elements.exhaustivity.tolist() == own.elements.exhaustivity.tolist()
    command("project", "import", tmp_path / "new", tmp_path / "old.zip", "--docs", ROOT / "articles")
    assert command("project", "check", tmp_path / "new") == command("project", "check", tmp_path / "old")
