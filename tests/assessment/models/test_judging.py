"""A language model becomes an assessor: its quotes are verified, its answers kept, its label everywhere."""

import json
from contextlib import closing

import pytest

from focuseval.assessment import open_project
from focuseval.assessment.agreement import finished
from focuseval.assessment.check import check_project
from focuseval.assessment.models.prompt import Prompt
from focuseval.assessment.store import Key
from strategies.model_server import NEAP, SPRING, answer, asked_text
from strategies.projects import DOCUMENTS, TIDES

LABEL = f"model:tiny@{Prompt().hash(12_000)}"
TIDE = Key(LABEL, TIDES, DOCUMENTS[0])


def only_tide(*quotes, entry=None):
    """A model that finds the quotes in the article on tides and nothing elsewhere."""
    return lambda body, _: answer(quotes, entry) if asked_text(body).lstrip().startswith("Tide") else answer()


def highlighted(project, key=TIDE):
    return [quote for _, _, quote in project.store.quotes(key)]


def test_quotes_become_highlights_and_the_rest_is_not_relevant(ask, project):
    done = ask(only_tide(SPRING, NEAP, entry="The range shrinks"))
    assert (done.assessor, done.documents, done.relevant, done.failed) == (LABEL, 2, 1, ())
    assert highlighted(project) == [SPRING, NEAP]
    text = project.documents.plain(DOCUMENTS[0]).text
    assert project.store.judgement(TIDE).judgement.bep == text.index("The range shrinks")
    other = project.store.judgement(Key(LABEL, TIDES, DOCUMENTS[1])).judgement
    assert (other.status, other.highlights) == ("not relevant", ())
    assert done.tokens == (200, 20)
    assert check_project(project.store, project.documents.get).defects == ()


def test_a_quote_is_found_as_it_stands_in_normal_form_repaired_or_not_at_all(ask, project):
    curly = NEAP.replace("The range", "The\n range")
    wrong = SPRING.replace("lower,", "lowered,")
    done = ask(only_tide("The Sun acts in the same way.", curly, wrong, "Tides are made by whales."))
    assert done.quotes == (1, 1, 1, 0, 1)
    assert highlighted(project) == ["The Sun acts in the same way.", SPRING, NEAP]
    note = project.store.judgement(TIDE).judgement.note
    assert "“Tides are made by whales.”" in note
    assert done.lines()[1] == "4 quotes: 1 exact, 1 normalised, 1 repaired, 0 ambiguous, 1 not in the text (25.0%)"


def test_a_document_of_invented_quotes_alone_is_not_relevant(ask, project):
    done = ask(only_tide("Tides are made by whales."))
    assert done.relevant == 0
    assert project.store.judgement(TIDE).judgement.status == "not relevant"


def test_words_that_stand_in_several_places_are_placed_by_the_order_of_the_quotes_or_not_at_all(ask, project):
    text = project.documents.plain(DOCUMENTS[0]).text
    assert text.count("the tide is called a") == 2
    ask(only_tide("the tide is called a", SPRING[:30]))  # out of order: the words may be either
    assert highlighted(project) == [SPRING[:30]]
    before = "At the first and the last quarter"
    ask(only_tide(before, "the tide is called a"), assessor="other")
    other = Key(LABEL.replace("tiny", "other"), TIDES, DOCUMENTS[0])
    assert project.store.quotes(other)[1][0] == text.rindex("the tide is called a")


def test_a_long_document_is_asked_in_windows_that_overlap(ask, project):
    seen = []

    def respond(body, _):
        text = asked_text(body)
        seen.append(text)
        return answer([quote for quote in (SPRING, NEAP) if quote in text])

    done = ask(respond, window=600)
    text = project.documents.plain(DOCUMENTS[0]).text
    assert max(map(len, seen)) <= 600
    assert sum(part in text for part in seen) > 5
    key = Key(done.assessor, TIDES, DOCUMENTS[0])
    assert highlighted(project, key) == [SPRING, NEAP]


def test_what_is_judged_is_not_asked_again_and_another_prompt_is_another_assessor(ask, project):
    ask(only_tide(SPRING))
    again = ask(only_tide(NEAP))
    assert (again.documents, again.known, len(ask.server.requests)) == (0, 2, 0)
    other = ask(only_tide(NEAP), prompt=Prompt("{query}? {document}"))
    assert other.documents == 2
    assert other.assessor != LABEL
    assert {*finished(project.store)} == {LABEL, other.assessor}


def test_a_limit_leaves_the_rest_for_another_time(ask):
    assert ask(only_tide(SPRING), limit=1).documents == 1
    assert ask(only_tide(SPRING)).documents == 1


def test_several_requests_at_once_give_the_same_judgements(ask, project):
    ask(only_tide(SPRING, NEAP), jobs=4)
    assert highlighted(project) == [SPRING, NEAP]


def test_every_request_and_reply_is_kept_with_the_project(ask, project, tmp_path):
    ask(only_tide(SPRING))
    rows = project.store.database.read().execute("SELECT * FROM model_exchanges ORDER BY document").fetchall()
    assert [(row["document"], row["status"], row["problem"]) for row in rows] == [
        (DOCUMENTS[1], 200, ""),
        (DOCUMENTS[0], 200, ""),
    ]
    sent = json.loads(rows[1]["request"])
    assert sent["model"] == "tiny"
    assert asked_text(sent) == project.documents.plain(DOCUMENTS[0]).text
    assert json.loads(rows[1]["reply"])["choices"][0]["message"]["content"] == answer([SPRING])


def test_kept_answers_are_used_where_a_judgement_was_not_written(ask, project, monkeypatch):
    """As after Ctrl-C between an answer and its judgement."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("focuseval.assessment.models.judging._store", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(only_tide(SPRING), jobs=2)
    kept = project.store.database.read().execute("SELECT count(*) FROM model_exchanges WHERE problem = ''").fetchone()
    done = ask(only_tide("never asked"))
    assert kept[0] + len(ask.server.requests) == done.documents == 2
    assert kept[0] >= 1


def test_a_changed_text_is_judged_again(ask, project, monkeypatch):
    ask(only_tide(SPRING))
    page = project.documents.plain(DOCUMENTS[0])
    monkeypatch.setitem(page.__dict__, "sha256", "0" * 64)
    assert ask(only_tide(SPRING)).documents == 1


def test_an_export_of_everything_brings_the_exchanges_back(ask, project, tmp_path):
    from focuseval.assessment.exchange import export_everything, import_everything  # noqa: PLC0415
    from focuseval.assessment.store import Store  # noqa: PLC0415

    ask(only_tide(SPRING))
    lines = list(export_everything(project.store))
    with closing(Store(tmp_path / "other.db")) as other:
        import_everything(other, enumerate(lines, 1))
        assert list(export_everything(other)) == lines
        assert sum(b'"exchange"' in line for line in lines) == 2


def test_a_project_of_an_older_version_gets_the_table(project):
    folder = project.folder
    connection = project.store.database._writer
    connection.execute("DROP TABLE model_exchanges")
    connection.execute("PRAGMA user_version=1")
    with closing(open_project(folder)) as again:
        assert again.store.database.read().execute("SELECT count(*) FROM model_exchanges").fetchone()[0] == 0


def test_elements_of_excluded_tags_are_not_asked_about_and_the_name_says_so(ask, project):
    plain = ask(lambda *_: answer())
    asked = [asked_text(body) for body in ask.server.requests]
    without = ask(lambda *_: answer(), exclude_tags=("title",))
    again = [asked_text(body) for body in ask.server.requests[len(asked) :]]
    titles = [
        page.text[one.start : one.end]
        for page in map(project.documents.get, DOCUMENTS)
        for one in page.elements
        if one.tag == "title"
    ]
    assert all(any(title in text for text in asked) for title in titles)
    assert not any(title in text.splitlines() for title in titles for text in again)
    assert plain.assessor != without.assessor
    assert without.documents == len(DOCUMENTS)


def test_sections_alone_are_asked_about(ask, project):
    ask(lambda *_: answer(), sections=("title",))
    pages = [project.documents.get(name) for name in DOCUMENTS]
    titles = {page.text[one.start : one.end].strip() for page in pages for one in page.elements if one.tag == "title"}
    assert {asked_text(body).strip() for body in ask.server.requests} <= titles
    assert ask.server.requests
