"""Questions drafted by a model: quotes verified, repetitions dropped, nothing asked twice, and a person's review."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import focuseval as fe
from focuseval.assessment import open_project
from focuseval.assessment.models.judging import words_of
from focuseval.assessment.project import word_question
from focuseval.assessment.store import Key
from focuseval.assessment.web import Access, create_app
from focuseval.cli import main
from focuseval.engine import http
from focuseval.errors import AssessError
from strategies.model_server import ModelServer, asked_text
from strategies.projects import command


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(http, "FIRST_PAUSE", 0.0)
    Path("docs").mkdir()
    for number in range(8):
        text = f"Harbour {number} has {number + 3} piers. It was built in {1800 + number}. Ships come in at night."
        Path(f"docs/h{number}.txt").write_text(text)
    return tmp_path


def drafted(text, **other):
    """What an honest model writes of a harbour."""
    number = text.split()[1]
    given = {
        "question": f"How many piers has harbour {number} and when was it built, and how many ships are there?",
        "answer": text.split()[3],
        "quotes": [text.partition(". ")[0] + "."],
    }
    return json.dumps(given | other)


def draft(server, *more, questions=5, code=0):
    words = ["draft", "docs", "--endpoint", server.url, "--model", "tiny", "--questions", str(questions)]
    done = CliRunner().invoke(main, [*words, "--timeout", "2", "--retries", "1", "-o", "drafts.jsonl", *more])
    assert done.exit_code == code, done.output
    return done


def lines():
    return [json.loads(line) for line in Path("drafts.jsonl").read_text().splitlines()]


def unlike(body, number):
    text = asked_text(body)
    return drafted(text, question=f"{'abcdefghijkl'[number]}? {text.split()[1]} {number} {chr(65 + number)}")


def test_drafts_are_a_gold_with_questions_whose_quotes_are_in_the_text(docs):
    with ModelServer(unlike) as server:
        done = draft(server)
    assert "5 questions; 0 dropped whose quotes are not in the text" in done.stderr
    for line in lines():
        text = Path(f"docs/{line['doc']}.txt").read_text()
        assert (line["origin"], [text[s["start"] : s["end"]] for s in line["spans"]]) == (
            "draft",
            [line["spans"][0]["quote"]],
        )
    gold = fe.read_gold("drafts.jsonl")
    assert len(gold.topics) == len(gold.queries) == 5
    assert {facts["origin"] for facts in gold.attributes.values()} == {"draft"}


def test_equal_seeds_draw_equal_documents_and_other_seeds_others(docs):
    drawn = []
    for seed in (1, 1, 2):
        Path("drafts.jsonl.replies.db").unlink(missing_ok=True)
        with ModelServer(unlike) as server:
            draft(server, "--seed", str(seed))
        drawn.append([line["doc"] for line in lines()])
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 5


def test_questions_with_invented_quotes_are_dropped_and_counted(docs):
    def some(body, number):
        text = asked_text(body)
        return unlike(body, number) if number % 2 else drafted(text, quotes=["The harbour has two lighthouses."])

    with ModelServer(some) as server:
        done = draft(server, questions=3)
    assert len(lines()) == 3
    assert "2 dropped whose quotes are not in the text" in done.stderr


def test_near_repetitions_are_dropped_and_counted(docs):
    with ModelServer(lambda body, _: drafted(asked_text(body))) as server:
        done = draft(server, questions=5)
    assert len(lines()) == 1
    assert "7 that repeat another" in done.stderr


def test_nothing_is_asked_twice(docs):
    with ModelServer(unlike) as server:
        draft(server)
        first = lines()
        asked = len(server.requests)
        done = draft(server)
        assert (len(server.requests), lines()) == (asked, first)
    assert "0 requests sent" in done.stderr


def test_a_server_that_fails_once_is_asked_again_and_one_that_never_answers_ends_the_work_in_one_line(docs):
    with ModelServer(lambda body, number: (500, {}, b"no") if number == 1 else unlike(body, number % 12)) as server:
        draft(server, questions=2)
    Path("drafts.jsonl").unlink()
    with ModelServer(lambda *_: "I would rather not.") as server:
        done = draft(server, "--seed", "9", code=1)
    assert "3 requests in a row have no answer" in done.stderr
    assert not Path("drafts.jsonl").exists()


def test_a_model_without_a_single_verified_question_leaves_no_file(docs):
    with ModelServer(lambda body, _: drafted(asked_text(body), quotes=[])) as server:
        done = draft(server, code=1)
    assert "expected at least one question whose quotes are in the text, found none" in done.stderr
    assert not Path("drafts.jsonl").exists()


def test_case_and_punctuation_make_no_other_question():
    assert words_of("How many PIERS?") == words_of("how many piers")


def test_a_person_accepts_extends_and_rejects_drafts_and_the_gold_says_where_they_came_from(docs):
    with ModelServer(unlike) as server:
        draft(server, questions=3)
    command("project", "drafts", "review", "drafts.jsonl", "--docs", "docs", "--assessor", "ann")
    accepted, extended, rejected = lines()
    with closing(open_project("review")) as opened:

        def edit(line, edit, token):
            key, page = Key("ann", line["topic"], line["doc"]), opened.documents.plain(line["doc"])
            version = opened.store.judgement(key).version
            opened.store.edit(key, page, edit, version=version, token=f"{token} {line['topic']}")

        shown = opened.store.judgement(Key("ann", accepted["topic"], accepted["doc"])).judgement
        assert (shown.status, list(shown.highlights)) == (
            "in progress", [(span["start"], span["end"]) for span in accepted["spans"]]
        )  # fmt: skip
        text = opened.documents.plain(extended["doc"]).text
        edit(accepted, {"kind": "finish", "relevant": True}, "accept the draft")
        edit(extended, {"kind": "highlight", "start": 0, "end": 40, "quote": text[:40]}, "extend it")
        edit(extended, {"kind": "finish", "relevant": True}, "accept that, too")
        edit(rejected, {"kind": "skip"}, "reject the draft")
    command("project", "export", "review", "gold.jsonl", "--to", "gold-jsonl")
    gold = fe.read_gold("gold.jsonl")
    assert set(gold.topics) == {accepted["topic"], extended["topic"]}
    assert gold.queries[accepted["topic"]] == accepted["query"]
    assert {(facts["origin"], facts["assisted"]) for facts in gold.attributes.values()} == {
        ("draft", "model:tiny@draft")
    }
    assert gold.passages.end.max() >= 40


def test_a_person_words_a_drafted_question_anew_in_the_browser_and_the_gold_has_it(docs):
    with ModelServer(unlike) as server:
        draft(server, questions=2)
    first, second = lines()
    Path("drafts.jsonl").write_text(Path("drafts.jsonl").read_text().replace(second["query"], "a\u2028line?"))
    command("project", "drafts", "review", "drafts.jsonl", "--docs", "docs", "--assessor", "ann")
    where = {"topic": first["topic"], "document": first["doc"]}
    with closing(open_project("review")) as opened:
        access = Access(b"k" * 32, frozenset({"localhost"}), assessor="ann")
        http = create_app(opened.store, opened.documents, opened.topics, access).test_client()
        http.get(f"/enter?token={access.token}", follow_redirects=True)

        def asked(text):
            page = http.get("/read", query_string=where).text
            csrf = re.search(r'name="csrf" value="([^"]+)"', page).group(1)
            sent = {"csrf": csrf, "text": text, **where}
            return page, http.post("/question", data=sent, headers={"Origin": "http://localhost"})

        page, answer = asked("  How many piers\nhas it? ")
        assert ("A model wrote this question" in page, "<kbd>p</kbd> rejects it" in page) == (True, True)
        assert answer.status_code == 302
        page, refused = asked(" ")
        assert "How many piers has it?" in page
        assert (refused.status_code, "expected a question" in refused.text) == (422, True)
    with closing(open_project("review")) as again:
        assert {topic.id: topic.title for topic in again.topics}[first["topic"]] == "How many piers has it?"
        assert again.topics[1].title == "a\u2028line?"
        with pytest.raises(AssessError, match="was not drafted"):
            word_question(again.store, again.folder, "other", "What?", actor="ann")


def test_drafts_that_are_none_and_documents_that_changed_are_refused_in_one_line(docs):
    Path("other.jsonl").write_text('{"topic": "1", "query": "q"}\n')
    told = command("project", "drafts", "review", "other.jsonl", "--docs", "docs", "--assessor", "ann", code=1)
    assert "expected drafts as 'focuseval draft' writes them" in told
    with ModelServer(unlike) as server:
        draft(server, questions=2)
    for path in Path("docs").iterdir():
        path.write_text("Something else.")
    told = command("project", "drafts", "again", "drafts.jsonl", "--docs", "docs", "--assessor", "ann", code=1)
    assert "is not the one that draft-1 was drafted from" in told
