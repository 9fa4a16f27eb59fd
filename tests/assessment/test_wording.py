"""Topics that are given again: the project's own copy, a topic less, other words."""

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.plan import record
from focuseval.assessment.project import rewordings
from focuseval.data.topics import Topic
from focuseval.example import ROOT
from strategies.projects import TIDES, begin_project, command, judged_project

TOPICS = (ROOT / "topics.xml").read_text()


@pytest.fixture
def judged(tmp_path):
    project = judged_project(tmp_path)
    command("project", "check", project)  # the log learns how the topics read
    return project


def without(number):
    """The example's topics without one of them."""
    start = TOPICS.index(f'<inex_topic topic_id="{number}"') if f'topic_id="{number}"' in TOPICS else -1
    assert start >= 0
    end = TOPICS.index("</inex_topic>", start) + len("</inex_topic>")
    return TOPICS[:start] + TOPICS[end:]


def test_the_project_s_own_topics_are_not_deleted(judged):
    command("assess", judged, "--topics", judged / "topics.xml", "--no-serve")
    assert (judged / "topics.xml").read_text() == TOPICS
    assert "no defect" in command("project", "check", judged)


def test_other_topics_take_the_place_of_the_old_ones_whatever_their_kind(tmp_path):
    project = begin_project(tmp_path)
    (tmp_path / "q.jsonl").write_text(f'{{"topic": "{TIDES}", "query": "Why?"}}\n')
    command("assess", project, "--topics", tmp_path / "q.jsonl", "--no-serve")
    assert [path.name for path in project.glob("topics*")] == ["topics.jsonl"]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "topics.xml").write_text(TOPICS)
    command("assess", project, "--topics", folder, "--no-serve")
    command("assess", project, "--topics", project / "topics", "--no-serve")
    assert (project / "topics" / "topics.xml").read_text() == TOPICS


def test_topics_that_cannot_be_read_leave_the_old_ones(judged, tmp_path):
    (tmp_path / "q.jsonl").write_text("nonsense\n")
    command("assess", judged, "--topics", tmp_path / "q.jsonl", "--no-serve", code=1)
    assert (judged / "topics.xml").read_text() == TOPICS


def test_a_topic_with_judgements_may_not_go(judged, tmp_path):
    (tmp_path / "fewer.xml").write_text(without(TIDES))
    told = command("assess", judged, "--topics", tmp_path / "fewer.xml", "--no-serve", code=1)
    assert f"expected the topic '{TIDES}', for which documents are judged" in told
    assert (judged / "topics.xml").read_text() == TOPICS


def test_other_words_for_a_judged_topic_are_recorded_with_what_they_were(judged, tmp_path):
    opened = open_project(judged)
    (before,) = [topic.title for topic in opened.topics if topic.id == TIDES]
    assert rewordings(opened.store) == {}
    opened.close()
    (tmp_path / "other.xml").write_text(TOPICS.replace(before, "something else"))
    command("assess", judged, "--topics", tmp_path / "other.xml", "--no-serve")
    opened = open_project(judged)
    (changed,) = rewordings(opened.store).items()
    assert changed[0] == TIDES
    assert changed[1].before["title"] == before
    opened.close()


def test_words_changed_in_the_project_s_own_file_are_noticed_too(judged):
    opened = open_project(judged)
    (before,) = [topic.title for topic in opened.topics if topic.id == TIDES]
    opened.close()
    (judged / "topics.xml").write_text(TOPICS.replace(before, "something else"))
    command("project", "check", judged)
    opened = open_project(judged)
    assert list(rewordings(opened.store)) == [TIDES]
    opened.close()


def test_a_pooled_topic_that_is_gone_is_named_on_the_front_page_and_does_not_break_it(make_client):
    client = make_client([Topic("11", "CO", title="tides")]).enter()
    page = client.get("/")
    assert page.status_code == 200
    assert "no longer among the topics: 12" in page.text
    assert "0 of 2 documents done" in page.text
    assert client.get("/topic?topic=12").status_code == 404
    assert client.get("/read?topic=12&document=c/other").status_code == 404
    client.edit({"kind": "finish", "relevant": False})
    client.edit({"kind": "finish", "relevant": False}, document="b/plain", token="token-0002")
    assert client.get("/next").location == "/?done=1"


def test_a_reworded_topic_says_so_where_it_is_shown(pooled, make_client):
    for title in ("old words", "tides"):
        record(pooled, {"kind": "topics", "topics": {"11": {"title": title}}}, actor="lea")
    client = make_client([Topic("11", "CO", title="tides"), Topic("12", "CO", title="pilots")]).enter()
    for path in ("/topic?topic=11", f"/read?topic=11&document={'a/tides'}"):
        page = client.get(path).text
        assert "Worded anew on" in page
        assert "old words" in page
    assert "Worded anew" not in client.get("/topic?topic=12").text


def test_reading_a_project_for_scoring_writes_nothing_to_its_log(judged, tmp_path):
    opened = open_project(judged)
    count = len(list(opened.store.events()))
    opened.close()
    run = ROOT / "runs" / "focused" / "careful.xml"
    command("score", judged, run, "-m", "charR", "--assessor", "one")
    opened = open_project(judged)
    assert len(list(opened.store.events())) == count
    opened.close()
