"""PRUM, EPRUM by containment, ERRel: against definitions by enumeration."""

from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import gold_of, run_of
from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.errors import MeasureError
from focuseval.measures.entry_points import (
    expected_precision,
    expected_ratio,
    precision_at_rank,
    precision_recall_curve,
    prum,
    prum_curve,
)
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from oracle import prum as slow
from oracle import recall_base as slow_base
from strategies.element_runs import Case, cases


def expected(case, value, kind="full"):
    base = slow_base.full(case.assessments, case.quant, case.scale)
    base = base if kind == "full" else slow_base.filtered(base, ("link",))
    found = []
    for topic in case.counted:
        targets = slow_base.ideal(slow_base.topic_of(base, topic))
        results = [(topic, d, p) for d, p in case.run.get(topic, [])]
        found.append(float(value(results, targets)) if targets else np.nan)
    return np.array(found)


@given(cases(), st.sampled_from(["full", "filtered"]), st.integers(1, 100), st.integers(1, 14))
def test_navigation_by_containment_equals_its_slow_twin(case, kind, percent, k):
    m = case.matched(filtered_tags=("link",), base=kind)
    eprum = partial(expected_precision, m, 0.1, "contains", quant=case.quant)
    np.testing.assert_allclose(eprum(), expected(case, slow.mean_eprum, kind), atol=1e-12)
    level = Fraction(percent, 100)
    at_level = expected(case, lambda r, y: slow.eprum(r, y, -(-len(y) * percent // 100)), kind)
    np.testing.assert_allclose(eprum(at=level), at_level, atol=1e-12)
    np.testing.assert_allclose(
        precision_recall_curve(m, nav="contains", quant=case.quant)[1][:, percent - 1], at_level, atol=1e-12
    )
    np.testing.assert_allclose(prum(m, quant=case.quant), expected(case, slow.prum, kind), atol=1e-12)
    at_level = expected(case, lambda r, y: slow.prum(r, y, -(-len(y) * percent // 100)), kind)
    np.testing.assert_allclose(prum(m, quant=case.quant, at=level), at_level, atol=1e-12)
    np.testing.assert_allclose(prum_curve(m, quant=case.quant)[1][:, percent - 1], at_level, atol=1e-12)
    at_rank = expected(case, lambda r, y: slow.eprum_at_rank(r, y, k), kind)
    np.testing.assert_allclose(precision_at_rank(m, 0.1, "contains", case.quant, at=k), at_rank, atol=1e-12)
    share = expected(case, lambda r, y: slow.errel(r, y, k), kind)
    np.testing.assert_allclose(expected_ratio(m, at=k, quant=case.quant), share, atol=1e-12)


def test_a_result_shows_a_target_that_it_contains_even_if_it_is_not_relevant_itself():
    # under strict only /a/b/c is relevant; the article that contains it is in no base, and shows it at rank 2
    assessments = {("t1", "d1", "/a[1]/b[1]/c[1]"): (3, 3, 0, 0)}
    case = Case("grades", "strict", assessments, {"t1": [("d1", "/a[1]/b[2]"), ("d1", "/a[1]")]})
    np.testing.assert_allclose(prum(case.matched(), quant="strict"), [1 / 2])
    np.testing.assert_allclose(expected_precision(case.matched(), 0.1, "contains", quant="strict"), [1 / 2])


def test_prum_and_eprum_at_levels_and_ranks_by_hand():
    # Ideal elements: two in d1, one in d2. Rank 1 shows nothing, rank 2 (all of d1) two of them, rank 3 the third.
    # PRUM on the way to 1 or 2: one of 2 items read is useful; to 3: two of 3. EPRUM: m(2) = 1 article at rank 2,
    # m(3) = 2 articles at rank 3. Equation 16: at rank 2 one article would have done, at rank 3 two, at rank 1 none.
    ideal = (("d1", "/a[1]/b[1]"), ("d1", "/a[1]/b[2]"), ("d2", "/a[1]"))
    assessments = {("t1", *place): (2, -1, 9, 9) for place in ideal}
    run = {"t1": [("d3", "/a[1]"), ("d1", "/a[1]"), ("d2", "/a[1]")]}
    m = Case("highlights", "spec", assessments, run).matched()
    half, whole = Fraction(1, 2), Fraction(1)
    np.testing.assert_allclose([prum(m, at=half)[0], prum(m, at=whole)[0], prum(m)[0]], [1 / 2, 2 / 3, (1 + 2 / 3) / 3])
    eprum = partial(expected_precision, m, 0.1, "contains")
    np.testing.assert_allclose([eprum(at=half)[0], eprum(at=whole)[0], eprum()[0]], [1 / 2, 2 / 3, (1 + 2 / 3) / 3])
    np.testing.assert_allclose([precision_at_rank(m, 0.1, "contains", at=k)[0] for k in (1, 2, 3)], [0, 1 / 2, 2 / 3])


def test_a_quantisation_of_entry_points_is_refused_by_name():
    m = entry_points([0], [(0, 0)])
    for call in (partial(precision_at_rank, at=3), expected_precision):
        with pytest.raises(MeasureError, match=r"EPRUM\(quant=sog\): entry points have no grades; add nav=contains"):
            call(m, 0.1, "distance", quant="sog")


def entry_points(beps, entries):
    """One topic, a document per entry (its bep, or −1), and a run that enters each document at a position."""
    n = len(beps)
    zero = np.zeros(n, np.int32)
    length = np.full(n, 1000, np.int64)
    empty = np.zeros(0, np.int64)
    none = empty.astype(np.int32)
    bep = np.array(beps, np.int64)
    documents = pa.array([f"d{i}" for i in range(n)])
    gold = Gold(
        ("t1",),
        documents,
        Articles(zero, np.arange(n, dtype=np.int32), (bep >= 0).astype(np.int32), length, length, bep),
        Passages(none, none, empty, empty, empty),
        GradedElements(none, none, pa.array([], pa.string()), none.astype(np.int8), none.astype(np.int8), empty, empty),
    )
    start = np.array([x for _, x in entries], np.int64)
    run = Run(
        "run",
        ("t1",),
        np.zeros(len(entries), np.int32),
        pa.array([f"d{i}" for i, _ in entries], pa.string()),
        start=start,
        end=np.full(len(entries), UNKNOWN, np.int64),
    )
    return match(run, prepare(gold))


@given(
    st.lists(st.sampled_from([-1, 0, 100]), min_size=1, max_size=6).filter(lambda b: max(b) >= 0),
    st.lists(st.sampled_from([0, 50, 100, 1000]), max_size=6),
)
def test_navigation_by_distance_equals_an_enumeration_of_histories(beps, positions):
    entries = list(enumerate(positions[: len(beps)]))
    m = entry_points(beps, entries)
    T = sum(b >= 0 for b in beps)
    p = [Fraction(100, 100 + abs(x - beps[i])) if beps[i] >= 0 else Fraction(0) for i, x in entries]
    wanted = [float(slow.prum_distance(p, R)) for R in range(1, T + 1)]
    assert prum(m, nav="distance")[0] == pytest.approx(sum(wanted) / T, abs=1e-12)
    for R, value in enumerate(wanted, 1):
        assert prum(m, nav="distance", at=Fraction(R, T))[0] == pytest.approx(value, abs=1e-12)
    for k in (1, 3, 9):
        assert expected_ratio(m, at=k, nav="distance")[0] == pytest.approx(float(sum(p[:k], Fraction(0)) / T))


def test_a_run_that_shows_no_target_scores_exactly_nothing():
    case = Case("grades", "strict", {("t1", "d1", "/a[1]"): (3, 3, 0, 0)}, {"t1": [("d1", "/z[1]")]})
    for at in (None, Fraction(1, 2)):
        assert expected_precision(case.matched(), 0.1, "contains", quant="strict", at=at).tolist() == [0]
    assert precision_at_rank(case.matched(), 0.1, "contains", "strict", at=2).tolist() == [0]
    assert prum(case.matched(), quant="strict").tolist() == [0]


def test_topics_with_more_targets_change_nothing_for_others():
    """By distance: one topic has three entry points and three items, the other has one of each; L is 100."""
    judged = {f"d{i}": {"spans": [(0, 9)], "length": 100, "bep": 0} for i in range(3)}
    gold = {"many": judged, "one": {"d1": judged["d1"]}}
    run = {"many": [("d0", 0), ("d1", 40), ("d2", 90)], "one": [("d1", 10)]}
    together = prum(match(run_of(run), prepare(gold_of(gold))), nav="distance").tolist()
    for topic, value in zip(gold, together, strict=True):
        alone = match(run_of({topic: run[topic]}), prepare(gold_of({topic: gold[topic]})))
        assert prum(alone, nav="distance").tolist() == [pytest.approx(value)]
    assert together[1] == pytest.approx(10 / (10 + 10))


def test_a_topic_s_only_target_counts_though_the_last_topic_s_stood_at_the_same_rank():
    assessments = {(topic, "d1", "/a[1]"): (2, -1, 4, 4) for topic in ("t1", "t2")}
    case = Case("highlights", "spec", assessments, {topic: [("d1", "/a[1]")] for topic in ("t1", "t2")})
    np.testing.assert_allclose(prum(case.matched()), [1, 1])
