"""Agreement of assessors at four levels, on a case small enough for a pencil."""

import math

import numpy as np
import pytest

from focuseval.assessment.adjudication import combine, decide, finished_sides, stale_decisions
from focuseval.assessment.agreement import agreements, alpha, finished
from focuseval.assessment.rules import Judgement
from focuseval.assessment.store import Key
from focuseval.collection.rendering import Document
from focuseval.errors import AssessError
from strategies.assessing import PAGE, mark, save
from strategies.pages import extents_of


def judge(store, name, document, *spans, bep=None):
    key, page = Key(name, "1", document), Document(document, PAGE.text, PAGE.elements)
    for span in spans:
        save(store, mark(*span), key=key, page=page)
    if bep is not None:
        save(store, {"kind": "entry", "position": bep}, key=key, page=page)
    save(store, {"kind": "finish", "relevant": bool(spans)}, key=key, page=page)


@pytest.fixture
def judged(store):
    judge(store, "ann", "d1", (0, 6))
    judge(store, "bob", "d1", (0, 6), (6, 43), bep=3)
    judge(store, "ann", "d2")
    judge(store, "bob", "d2")
    judge(store, "ann", "d3", (43, 53))
    judge(store, "bob", "d3")
    judge(store, "cy", "d2")
    return store


def test_the_four_levels_are_what_a_pencil_gives(judged):
    found = finished(judged)
    (pair, *_) = agreements(found, lambda name: extents_of(PAGE))
    assert (pair.left, pair.right, pair.documents) == ("ann", "bob", 3)
    # d1 both yes, d2 both no, d3 yes–no: p_o = 2/3, p_e = 2/3·1/3 + 1/3·2/3 = 4/9.
    assert pair.kappa == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    # shared 6, ann 6 + 10, bob 43: union 53.
    assert pair.jaccard == pytest.approx(6 / 53)
    assert pair.f == pytest.approx(12 / 59)
    # five elements in each of three documents
    assert pair.elements == 15
    length = len(PAGE.text)
    ann = [6 / length, 1, 0, 0, 0, *[0] * 5, 10 / length, 0, 0, 0, 10 / (length - 43)]
    bob = [43 / length, 1, 1, 1, 0, *[0] * 5, *[0] * 5]
    assert pair.specificity == pytest.approx(np.corrcoef(ann, bob)[0, 1])
    assert (pair.entry_points, pair.distance) == (1, 3.0)


def test_alpha_takes_everyone_and_leaves_out_who_did_not_judge(judged):
    # d1: 1 1, d2: 0 0 0, d3: 1 0; n = 7 with three ones: α = 1 − 6 · 2 / (2 · 3 · 4).
    assert alpha(finished(judged)) == pytest.approx(0.5)
    assert math.isnan(alpha({}))


def test_two_people_who_found_nothing_agree_about_documents_only(store):
    judge(store, "ann", "d1")
    judge(store, "bob", "d1")
    (pair,) = agreements(finished(store), lambda name: extents_of(PAGE))
    assert pair.documents == 1
    assert math.isnan(pair.jaccard)
    assert math.isnan(pair.specificity)


def test_an_unfinished_document_does_not_count(store):
    judge(store, "ann", "a/one", (0, 6))
    save(store, mark(0, 6), key=Key("bob", "1", "a/one"))
    assert list(finished(store)) == ["ann"]
    assert len(finished_sides(store, "1", "a/one")) == 1


def test_union_intersection_and_one_are_what_they_say():
    ann, bob = Judgement(((0, 9), (20, 25)), status="relevant"), Judgement(((4, 12),), status="relevant")
    assert combine([ann, bob], "union").highlights == ((0, 12), (20, 25))
    assert combine([ann, bob], "intersection").highlights == ((4, 9),)
    assert combine([bob], "one") == Judgement(((4, 12),), 4, "relevant")
    nothing = combine([ann, Judgement(status="not relevant")], "intersection")
    assert (nothing.status, nothing.entry_point) == ("not relevant", None)


def test_an_entry_point_is_kept_only_when_all_share_it():
    shared = [Judgement(((5, 9),), 2), Judgement(((6, 12),), 2)]
    assert combine(shared, "union").bep == 2
    assert combine([Judgement(((5, 9),), 2), Judgement(((6, 12),))], "union").entry_point == 5


def test_an_intersection_that_leaves_nothing_of_two_relevant_judgements_is_not_not_relevant():
    ann, bob = Judgement(((0, 4),), status="relevant"), Judgement(((6, 9),), status="relevant")
    nothing = Judgement(status="not relevant")
    for judged in ([ann, bob], [ann, bob, nothing]):
        with pytest.raises(AssessError, match=r"2 of \d found the document relevant, and their intersection is empty"):
            combine(judged, "intersection")
    assert combine([ann, nothing], "intersection").status == "not relevant", "somebody said so"
    assert combine([nothing, nothing], "intersection").status == "not relevant"


def test_a_majority_is_what_more_than_half_highlighted_and_a_tie_decides_nothing():
    ann, bob, cy = (Judgement((span,), status="relevant") for span in ((0, 5), (3, 9), (4, 12)))
    nothing = Judgement(status="not relevant")
    assert combine([ann, bob, cy], "majority").highlights == ((3, 9),)
    assert combine([ann, nothing, nothing], "majority").status == "not relevant"
    with pytest.raises(AssessError, match="majority is empty"):
        combine([ann, nothing], "majority")
    with pytest.raises(AssessError, match="majority is empty"):
        combine([ann, cy.__class__(((20, 22),)), nothing], "majority")


def test_a_decision_is_stale_when_a_judgement_under_it_changes_and_fresh_when_it_is_taken_again(store):
    for name in ("ann", "bob", "cy"):
        judge(store, name, "a/one", (0, 6))
    unit = ("1", "a/one")
    decide(store, PAGE, "1", "union", ["ann", "bob"], version=0, token="t-decide", actor="lea")
    assert stale_decisions(store) == {}
    save(store, {"kind": "note", "text": "x"}, key=Key("cy", *unit))
    assert stale_decisions(store) == {}, "cy's judgement is not under it"
    save(store, mark(6, 9), key=Key("bob", *unit))
    assert stale_decisions(store) == {unit: ("bob",)}
    save(store, {"kind": "finish", "relevant": True}, key=Key("bob", *unit))
    decide(store, PAGE, "1", "union", ["ann", "bob"], version=1, token="t-again", actor="lea")
    assert stale_decisions(store) == {}


@pytest.mark.parametrize(("rule", "count"), [("most", 2), ("one", 2), ("union", 0)])
def test_a_rule_that_does_not_fit_is_refused(rule, count):
    with pytest.raises(AssessError, match="expected one of"):
        combine([Judgement()] * count, rule)


def test_only_finished_judgements_can_be_adjudicated(store):
    judge(store, "ann", "a/one", (0, 6))
    save(store, mark(0, 6), key=Key("bob", "1", "a/one"))
    with pytest.raises(AssessError, match="not all"):
        decide(store, PAGE, "1", "union", ["ann", "bob"], version=0, token="t-decide", actor="lea")
