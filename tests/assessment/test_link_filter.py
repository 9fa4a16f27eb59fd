"""The filter of INEX 2006: a project that judges, offers and exports no links, whose text stays."""

import hashlib
import json
from contextlib import closing

import pytest

from focuseval.assessment import Key, open_project, project_gold
from focuseval.assessment.plan import Assessor, Pooled, add_to_pool, register
from focuseval.assessment.pool import keep_run
from focuseval.assessment.project import choose, setting
from focuseval.assessment.rules import NOT_RELEVANT, RELEVANT, Judgement, as_dict
from focuseval.assessment.web import Access, create_app
from focuseval.errors import AssessError
from focuseval.formats import read_gold
from strategies.assessing import mark, save
from strategies.projects import command

from .conftest import HOST, Client

ARTICLE, PARAGRAPH = "/article[1]", "/article[1]/p[1]"
LINK, INSIDE = "/article[1]/p[1]/weblink[1]", "/article[1]/p[1]/weblink[1]/b[1]"
KEY = Key("ann", "1", "one")


def begin(tmp_path, *options):
    """A project with one article that holds a link; what `assess` said."""
    (tmp_path / "docs").mkdir(exist_ok=True)
    (tmp_path / "docs" / "one.xml").write_text(
        "<article><p>Before <weblink>the <b>link</b></weblink> after.</p></article>"
    )
    (tmp_path / "topics.jsonl").write_text('{"id": "1", "title": "links"}\n')
    where = ("--docs", tmp_path / "docs", "--topics", tmp_path / "topics.jsonl", "--no-serve")
    command("assess", tmp_path / "judging", *where, *options)
    project = open_project(tmp_path / "judging")
    register(project.store, Assessor("ann"))
    add_to_pool(project.store, [Pooled("1", "one")], actor="lea")
    return project


def grade(project, path, pair):
    return save(project.store, {"kind": "grade", "paths": [path], "grade": pair}, KEY, project.documents.get("one"))


def test_a_link_cannot_be_graded_and_needs_no_grade(tmp_path):
    with closing(begin(tmp_path, "--scale", "inex2003", "--elements", "filtered")) as project:
        with pytest.raises(AssessError, match=r"weblink\[1\] is a link, which this project does not judge on its own$"):
            grade(project, LINK, "33")
        for path, pair in ((INSIDE, "33"), (PARAGRAPH, "31"), (ARTICLE, "31")):
            grade(project, path, pair)
        save(project.store, {"kind": "finish", "relevant": True}, KEY, project.documents.get("one"))
    command("project", "export", tmp_path / "judging", tmp_path / "gold", "--to", "inex-2003")
    assert sorted(read_gold(tmp_path / "gold").elements.path.to_pylist()) == [ARTICLE, PARAGRAPH, INSIDE]


def test_grades_of_links_that_were_given_before_are_left_out_and_counted(tmp_path):
    with closing(begin(tmp_path, "--scale", "inex2003")) as project:
        for path, pair in ((INSIDE, "33"), (LINK, "33"), (PARAGRAPH, "31"), (ARTICLE, "31")):
            grade(project, path, pair)
        save(project.store, {"kind": "finish", "relevant": True}, KEY, project.documents.get("one"))
    assert LINK in project_gold(tmp_path / "judging").elements.path.to_pylist()
    command("assess", tmp_path / "judging", "--elements", "filtered", "--no-serve")
    gold = project_gold(tmp_path / "judging")
    assert LINK not in gold.elements.path.to_pylist()
    assert "1 element is left out as too small: links" in [str(one) for one in gold.remarks]
    with closing(open_project(tmp_path / "judging")) as project:
        access = Access(b"k" * 32, frozenset({HOST}), assessor="ann")
        client = Client(create_app(project.store, project.documents, project.topics, access), access).enter()
        shown = client.get("/api/document", topic="1", document="one").json
        assert shown["document"]["elements"]["path"] == [ARTICLE, PARAGRAPH, INSIDE]
        assert shown["document"]["elements"]["parent"] == [-1, 0, 1]
        grade(project, LINK, None)
        with pytest.raises(AssessError, match="is a link"):
            grade(project, LINK, "33")
    command("assess", tmp_path / "judging", "--elements", "all", "--no-serve")
    with closing(open_project(tmp_path / "judging")) as project:
        grade(project, LINK, "33")


def test_a_gold_without_its_links_has_another_hash(tmp_path):
    with closing(begin(tmp_path, "--scale", "inex2005")) as project:
        page = project.documents.get("one")
        save(project.store, mark(0, len(page.text), text=page.text), KEY, page)
        for path in (INSIDE, LINK, PARAGRAPH, ARTICLE):
            grade(project, path, "2")
        save(project.store, {"kind": "finish", "relevant": True}, KEY, page)
        whole = project_gold(tmp_path / "judging").sha256
        judged = [["1", "one", [[0, len(page.text)]], 0, page.sha256]]
        assert whole == hashlib.sha256(json.dumps(judged).encode()).hexdigest(), "as before there was a filter"
        choose(project.store, "elements", "filtered", actor="lea")
        assert project_gold(tmp_path / "judging").sha256 != whole
        choose(project.store, "elements", "all", actor="lea")
        assert project_gold(tmp_path / "judging").sha256 == whole


@pytest.mark.parametrize(("pair", "status"), [("00", NOT_RELEVANT), ("33", RELEVANT)])
def test_a_document_of_which_only_links_were_graded_is_not_relevant_without_them(tmp_path, pair, status):
    with closing(begin(tmp_path, "--scale", "inex2003", "--elements", "filtered")) as project:
        edit = {"kind": "replace", "judgement": as_dict(Judgement(status=status, grades={LINK: pair}))}
        save(project.store, edit, KEY, project.documents.get("one"))
    gold = project_gold(tmp_path / "judging")
    assert gold.articles.relevance.tolist() == [0]
    assert (gold.elements.path.to_pylist(), gold.elements.exhaustivity.tolist()) == ([ARTICLE], [0])
    command("project", "export", tmp_path / "judging", tmp_path / "gold", "--to", "inex-2003")
    assert read_gold(tmp_path / "gold").articles.relevance.tolist() == [0]


def test_a_link_that_was_graded_as_relevant_and_then_left_out_does_not_make_its_document_relevant(tmp_path):
    with closing(begin(tmp_path, "--scale", "inex2003")) as project:
        grade(project, LINK, "33")
        choose(project.store, "elements", "filtered", actor="lea")
        page = project.documents.get("one")
        with pytest.raises(AssessError, match="a relevant document needs at least one relevant element"):
            save(project.store, {"kind": "finish", "relevant": True}, KEY, page)
        done = save(project.store, {"kind": "finish", "relevant": False}, KEY, page).judgement
        assert (done.status, done.found) == (NOT_RELEVANT, False)
        assert project.store.timeline(KEY).now == done
        assert save(project.store, {"kind": "undo"}, KEY, page).judgement.grades == {LINK: "33"}
        again = {"kind": "replace", "judgement": as_dict(done)}
        assert save(project.store, again, KEY, page).judgement == done, "as after a decision, or back in its history"


def test_highlighted_links_are_left_out_of_the_elements_and_their_text_stays(tmp_path):
    with closing(begin(tmp_path, "--scale", "inex2005", "--elements", "filtered")) as project:
        page = project.documents.get("one")
        link = page.elements[page.row_of[LINK]]
        save(project.store, mark(link.start, link.end, text=page.text), KEY, page)
        for path in (INSIDE, PARAGRAPH, ARTICLE):
            grade(project, path, "2")
        save(project.store, {"kind": "finish", "relevant": True}, KEY, page)
    gold = project_gold(tmp_path / "judging")
    assert gold.passages.start.tolist() == [link.start]
    assert gold.elements.path.to_pylist() == [ARTICLE, PARAGRAPH, INSIDE]
    assert "1 element is left out as too small: links" in [str(one) for one in gold.remarks]


def test_an_archive_carries_the_choice_and_an_older_project_judges_all(tmp_path):
    with closing(begin(tmp_path, "--elements", "filtered")) as project:
        save(project.store, {"kind": "finish", "relevant": False}, KEY, project.documents.get("one"))
    command("project", "archive", tmp_path / "judging", tmp_path / "a.zip")
    command("project", "import", tmp_path / "again", tmp_path / "a.zip", "--docs", tmp_path / "docs")
    with closing(open_project(tmp_path / "again")) as project:
        assert setting(project.store, "elements") == "filtered"
    (tmp_path / "b").mkdir()
    with closing(begin(tmp_path / "b")) as project:
        assert setting(project.store, "elements") == "all"
        assert project.store.offered(project.documents.get("one")) is project.documents.get("one")


def test_links_that_runs_returned_are_not_offered(tmp_path):
    lines = "".join(
        f'{{"topic": "1", "document": "one", "rank": {rank}, "path": "{path}", "run_id": "r"}}\n'
        for rank, path in enumerate((LINK, PARAGRAPH), 1)
    )
    with closing(begin(tmp_path)) as project:
        keep_run(project.folder, "r.jsonl", lines.encode(), index=project.documents.index)
        choose(project.store, "pooled", "marked", actor="lea")
        access = Access(b"k" * 32, frozenset({HOST}), assessor="ann")
        client = Client(create_app(project.store, project.documents, project.topics, access), access).enter()
        counts = []
        for to in ("all", "filtered"):
            choose(project.store, "elements", to, actor="lea")
            counts.append(len(client.get("/api/document", topic="1", document="one").json["pooled"]))
        assert counts == [2, 1]
