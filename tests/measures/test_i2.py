"""inex_eval: the worked example of the paper, weak ranks, levels, and the slow twin."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import run_of
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.graded import _distinct, average_precall, precall, weak_ranks
from focuseval.measures.matching import match
from focuseval.measures.prepared import prepare
from oracle import i2 as slow
from oracle import recall_base as slow_base
from oracle.xcg import gains
from strategies.element_runs import Case, cases, columns_of_run, gold_of


def seed_001(order):
    """Gains that total 6.75 under sog: 1, .5, five more of 1 and one of .25, the run returns the first two."""
    said = [(3, 3), (2, 2), *[(3, 3)] * 5, (3, 1)]
    assessments = {("t1", "d1", f"/a[1]/b[{i}]"): (*pair, 0, 0) for i, pair in enumerate(said, 1)}
    return Case("grades", "sog", assessments, {"t1": [("d1", f"/a[1]/b[{i}]") for i in order]}).matched()


def at_mass(m, *masses):
    elements = m.elements("sog", "full")
    units = np.array([[round(x / elements.base.unit) for x in masses]])
    return precall(elements, weak_ranks(m, elements), units)[0]


def test_seed_001_ideal_run():
    # Kazai & Lalmas, IR Fest 2005, p. 16: recall 1/6.75 = .148 and 1.5/6.75 = .222, precision 1, then .9
    m = seed_001([1, 2])
    assert m.elements("sog", "full").base.gain.sum() == pytest.approx(6.75)
    np.testing.assert_allclose(at_mass(m, 1, 1.5), [1, 0.9])
    levels = (Fraction(0), 1 / Fraction("6.75"), Fraction("1.5") / Fraction("6.75"), Fraction(1))
    np.testing.assert_allclose([average_precall(m, "sog", at=x)[0] for x in levels], [1, 1, 0.9, 0])


def test_seed_001_reversed_run():
    # the same page: recall .5/6.75 = .074, precision .75
    np.testing.assert_allclose(at_mass(seed_001([2, 1]), 0.5), [0.75])


def test_half_of_the_mass_is_reached_though_the_total_of_the_doubles_exceeds_two():
    # gains 1 and ten times .1 (e=1, s=1 under sog): the first reaches level .5 with precision 1 up to there
    said = [(3, 3), *[(1, 1)] * 10]
    assessments = {("t1", "d1", f"/a[1]/b[{i}]"): (*pair, 0, 0) for i, pair in enumerate(said, 1)}
    case = Case("grades", "sog", assessments, {"t1": [("d1", "/a[1]/b[1]")]})
    np.testing.assert_allclose(average_precall(case.matched(), "sog"), [0.5])


class Collection:
    """An index that knows how many elements there are, and all of them but those of the tag c."""

    sha256, lengths = "", np.full(10, 10**9)

    def __init__(self, elements):
        self.element_bounds = np.array([0, elements])

    def __len__(self):
        return len(self.lengths)

    def find(self, ids):
        return np.array([int(name.as_py()[-1]) if name.as_py()[-1].isdigit() else 9 for name in ids], np.int32)

    def resolve(self, documents, paths):
        start = self.resolve_points(documents, paths)
        return start, np.where(start < 0, -1, 1)

    def resolve_points(self, documents, paths, whitespace="keep"):
        return np.array([-1 if "/c" in path else 0 for path in paths.to_pylist()], np.int64)


def grouped(results, ranks, base):
    """Gains of results in weak ranks: neighbours with the same rank."""
    found = []
    for i, gain in enumerate(gains(results, base)):
        if i and ranks[i] == ranks[i - 1]:
            found[-1].append(gain)
        else:
            found.append([gain])
    return found


@given(cases(), st.booleans(), st.sampled_from([None, 25]), st.data())
def test_average_precision_equals_its_slow_twin(case, ties, elements, data):
    quant = "strict5" if case.quant in ("gen5", "genLifted") else case.quant
    base = slow_base.full(case.assessments, quant, case.scale)
    ranks = {
        t: sorted(data.draw(st.lists(st.integers(1, 4), min_size=len(r), max_size=len(r)))) for t, r in case.run.items()
    }
    index = None if elements is None else Collection(elements)
    run = columns_of_run(case.run, ranks if ties else None)
    m = match(run, prepare(gold_of(case.assessments, case.scale), index))
    percent, rule = data.draw(st.integers(1, 100)), "zero" if elements is None else "block"
    at_level = average_precall(m, quant, rule, Fraction(percent, 100))
    values = average_precall(m, quant, rule)
    for topic, value, one in zip(case.counted, values, at_level, strict=True):
        here = slow_base.topic_of(base, topic)
        if not here:
            assert np.isnan(value)
            continue
        results = [(topic, d, p) for d, p in case.run.get(topic, [])]
        given = ranks.get(topic, []) if ties else list(range(len(results)))
        rest = None if elements is None or not results else elements - len({r for r in results if "/c" not in r[2]})
        wanted = slow.average_precision(grouped(results, given, here), sum(here.values()), rest)
        assert value == pytest.approx(float(wanted), abs=1e-12)
        wanted = slow.average_precision(grouped(results, given, here), sum(here.values()), rest, [percent])
        assert one == pytest.approx(float(wanted), abs=1e-12)


def test_gains_beyond_one_are_no_probabilities():
    case = Case("exhaustivity", "gen5", {("t1", "d1", "/a[1]"): (2, -1, 4, 4)}, {})
    for quant in ("auto", "gen5", "genLifted"):
        with pytest.raises(MeasureError, match="from 0 to 1"):
            average_precall(case.matched(), quant)


def test_the_rest_of_the_collection_needs_an_index():
    with pytest.raises(MissingDataError) as caught:
        average_precall(seed_001([1]), "sog", "block")
    assert str(caught.value) == (
        "i2AP(unretrieved=block): the collection's number of elements is unknown; "
        "build its index with 'focuseval index' and give index="
    )


def of_ten(results):
    """A match in a collection of ten elements in three documents; gains are 1 and .5 under sog."""
    index = Collection(0)
    index.element_bounds = np.array([0, 1, 4, 10])
    gold = gold_of({("t1", "d1", "/a[1]"): (3, 3, 0, 0), ("t1", "d2", "/a[1]"): (2, 2, 0, 0)})
    return match(columns_of_run({"t1": results}), prepare(gold, index))


def test_what_the_run_left_out_stands_together_on_one_last_rank():
    # n = 1.5. The run returns a miss, then the gain of .5: up to that mass j = 1, i = r = .5. Of ten elements eight are
    # left, with a relevant mass of 1 and 7 of the other; before them lie 2 − .5 = 1.5.
    m = of_ten([("d1", "/z[1]"), ("d2", "/a[1]")])
    wanted = []
    for x in (1.5 * i / 100 for i in range(1, 101)):
        found = x / (x + 1 + x * 0.5 / 1.5) if x <= 0.5 else x / (x + 1.5 + (x - 0.5) * 7 / 2)
        wanted.append(found)
    np.testing.assert_allclose(average_precall(m, "sog", "block"), [np.mean(wanted)])


def test_elements_are_different_by_document_and_by_path():
    rows = [("d1", "/a[1]"), ("d2", "/a[1]"), ("d1", "/z[1]"), ("d1", "/a[1]"), ("d2", "/a[1]"), ("d1", "/a[1]/c[1]")]
    assert _distinct(of_ten(rows)).tolist() == [3], "the last is no element of the collection"
    assert _distinct(of_ten([])).tolist() == [0]


def test_an_element_of_another_topic_shares_no_weak_rank():
    assessments = {(topic, "d1", "/a[1]"): (3, 3, 0, 0) for topic in ("t1", "t2")}
    run = columns_of_run({"t1": [("d1", "/a[1]")], "t2": [("d1", "/a[1]")]}, {"t1": [1], "t2": [1]})
    m = match(run, prepare(gold_of(assessments)))
    assert weak_ranks(m, m.elements("strict", "full")).bounds.tolist() == [0, 1, 2]
    np.testing.assert_allclose(average_precall(m, "strict"), [1, 1])


def test_a_last_rank_may_hold_relevant_elements_only():
    # of two elements the run returns the one that is not relevant: j = 1, i = 0, so P(x) = x / (x + 1)
    gold = gold_of({("t1", "d1", "/a[1]/b[1]"): (3, 3, 0, 0)})
    m = match(columns_of_run({"t1": [("d1", "/a[1]")]}), prepare(gold, Collection(2)))
    wanted = np.mean([x / (x + 100) for x in range(1, 101)])
    np.testing.assert_allclose(average_precall(m, "strict", "block"), [wanted])


def test_a_run_of_whole_documents_returns_as_many_elements():
    gold = gold_of({("t1", "d1", "/a[1]"): (3, 3, 0, 0)})
    assert _distinct(match(run_of({"t1": ["d1", "d2"]}), prepare(gold, Collection(9)))).tolist() == [2]
