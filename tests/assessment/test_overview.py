"""What a lead sees of everybody's work, against a slow count; and how long people work."""

import random
from collections import Counter

import pytest

from focuseval.assessment.plan import (
    EVERYONE,
    ONLY,
    Assessor,
    Pooled,
    add_to_pool,
    assign,
    know_role,
    pool,
    register,
    split,
)
from focuseval.assessment.progress import Overview, Work, summed
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from strategies.assessing import TEXT, mark, save

PEOPLE = ("ann", "bob", "cy")
UNITS = [(topic, f"d{k}") for topic in ("1", "2") for k in range(4)]
PAGES = {name: Document(name, TEXT) for _, name in UNITS}


@pytest.fixture
def campaign(store):
    add_to_pool(store, [Pooled(*unit) for unit in UNITS], actor="lea")
    for name in (*PEOPLE, "lea"):
        register(store, Assessor(name))
    know_role(store, "lea", "lead")
    return store


def judge(store, name, unit, edit):
    save(store, edit, Key(name, *unit), PAGES[unit[1]])


def expected(store):
    """The rows, counted one judgement at a time."""
    decided = {key[1:] for key in store.judged("adjudicated") if store.judgement(key).judgement.finished}
    verdicts = {}
    for key in store.judged():
        judgement = store.judgement(key).judgement
        if judgement.finished and key.assessor != "adjudicated":
            verdicts.setdefault(key[1:], {})[key.assessor] = judgement.status
    rows = {}
    judging = {key.assessor for key in store.judged()}
    for name in (*PEOPLE, *(["lea"] if "lea" in judging else [])):
        for topic in ("1", "2"):
            keys = [key for key in store.judged(name) if key.topic == topic]
            counts = Counter(store.judgement(key).judgement.status for key in keys)
            differ = sum(
                len(set(sides.values())) > 1 and name in sides and unit not in decided
                for unit, sides in verdicts.items()
                if unit[0] == topic
            )
            told = [counts[status] for status in ("relevant", "not relevant", "in progress", "skipped")]
            flagged = sum(store.judgement(key).judgement.flagged for key in keys)
            total = len(pool(store, name, topic))
            if total or any(told):
                rows[name, topic] = (total, *told, flagged, differ)
    return rows


def told(rows):
    return {(row.assessor, row.topic): row[2:9] for row in rows}


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_brought_up_to_date_are_those_that_a_slow_count_gives(campaign, seed):
    chance, overview = random.Random(seed), Overview(campaign)
    for _ in range(12):
        name, unit = chance.choice((*PEOPLE, "adjudicated")), chance.choice(UNITS)
        judge(campaign, name, unit, mark(0, 5))
        judge(campaign, name, unit, chance.choice([
            {"kind": "finish", "relevant": True},
            {"kind": "skip"},
            {"kind": "flag", "on": True},
            mark(6, 9),
        ]))  # fmt: skip
        if chance.random() < 0.4:
            judge(campaign, name, unit, mark(0, len(TEXT), "unhighlight"))
            judge(campaign, name, unit, {"kind": "finish", "relevant": False})
        if chance.random() < 0.3:
            split(campaign, chance.sample(PEOPLE, 2), by=chance.choice(["topics", "pool"]), actor="lea")
        elif chance.random() < 0.3:
            unit = chance.choice([*UNITS, ("1", ""), ("2", "")])
            how = chance.choice([ONLY, EVERYONE])
            assign(campaign, [unit], [] if how == EVERYONE else ["bob"], how=how, actor="lea")
        if chance.random() < 0.5:
            assert told(overview.rows()) == told(Overview(campaign).rows())
    assert told(overview.rows()) == expected(campaign)


def test_a_lead_who_judges_nothing_has_nothing_to_do(campaign):
    assert {row.assessor for row in Overview(campaign).rows()} == set(PEOPLE)
    judge(campaign, "lea", UNITS[0], mark(0, 5))
    assert "lea" in {row.assessor for row in Overview(campaign).rows()}


def test_a_decision_ends_a_disagreement(campaign):
    judge(campaign, "ann", UNITS[0], mark(0, 5))
    judge(campaign, "ann", UNITS[0], {"kind": "finish", "relevant": True})
    judge(campaign, "bob", UNITS[0], {"kind": "finish", "relevant": False})
    overview = Overview(campaign)
    assert {row.assessor: row.disagreed for row in summed(overview.rows(), "assessor")} == {"ann": 1, "bob": 1, "cy": 0}
    judge(campaign, "adjudicated", UNITS[0], {"kind": "finish", "relevant": False})
    assert not any(row.disagreed for row in overview.rows())


def test_work_is_the_time_between_edits_and_breaks_are_none(store, monkeypatch):
    times = iter([0, 60, 100, 1000, 1010])
    monkeypatch.setattr(
        "focuseval.assessment.store.now", lambda: f"2026-01-01T00:{(s := next(times)) // 60:02}:{s % 60:02}+00:00"
    )
    for unit in (UNITS[0], UNITS[0], UNITS[4], UNITS[4], UNITS[4]):
        judge(store, "ann", unit, {"kind": "note", "text": str(random.random())})
    pace = Overview(store)
    pace.rows()
    assert dict(pace.seconds) == {("ann", "1"): 60.0, ("ann", "2"): 50.0}
    assert pace.last == {"ann": "2026-01-01T00:16:50+00:00"}
    pace.rows()
    assert dict(pace.seconds) == {("ann", "1"): 60.0, ("ann", "2"): 50.0}, "nothing is counted twice"


def test_what_a_lead_does_to_a_judgement_is_not_its_assessor_s_work(store):
    judge(store, "ann", UNITS[0], mark(0, 5))
    save(store, {"kind": "flag", "on": True}, Key("ann", *UNITS[0]), PAGES["d0"], actor="lea")
    pace = Overview(store)
    pace.rows()
    assert "lea" not in pace.last


def test_a_document_takes_the_work_on_it_and_what_is_unfinished():
    row = Work("ann", "1", 10, relevant=2, not_relevant=2, seconds=400.0)
    assert (row.done, row.todo, row.per_document, row.per_hour) == (4, 6, 100.0, 36.0)
    assert Work().per_document is None
    assert Work().per_hour is None


def test_a_lead_sees_what_was_flagged_and_why(together):
    ann, lea = together("ann"), together("lea")
    ann.edit({"kind": "flag", "on": True})
    ann.edit({"kind": "note", "text": "half of it is <b>missing</b>"}, version=1, token="token-0002")
    text = lea.get("/flagged").text
    assert "half of it is &lt;b&gt;missing&lt;/b&gt;" in text
    assert "1 judgement" in text
    assert "Nobody has flagged anything" in lea.get("/flagged", assessor="bob").text
    assert '<a href="/flagged">flagged</a>' in lea.get("/dashboard").text
    assert ann.get("/flagged").status_code == 403


def test_agreement_of_many_pairs_shows_the_least_first_and_those_of_one_assessor(together, monkeypatch):
    monkeypatch.setattr("focuseval.assessment.web.adjudication.SHOWN", 1)
    for name, end in (("ann", 20), ("bob", 10), ("lea", 20)):
        one = together(name)
        text = one.get("/api/document", topic="11", document="a/tides").json["document"]["text"]
        one.edit({"kind": "highlight", "start": 0, "end": end, "quote": text[:end]})
        one.edit({"kind": "finish", "relevant": True}, version=1, token="token-0002")
    lea = together("lea")
    shown = lea.get("/agreement").text
    assert "ann – bob" in shown
    assert "ann – lea" not in shown
    assert "2 more have more of it" in shown
    assert "bob – lea" in lea.get("/agreement", assessor="lea").text
    assert "Nobody has finished a document in common with cy" in lea.get("/agreement", assessor="cy").text
