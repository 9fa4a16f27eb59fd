"""From assessments to gain: the papers' tables, exact ties, and assessments that no table knows."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.errors import InputError, MeasureError, MissingDataError
from focuseval.measures.assessed import QUANTISATIONS, possible, quantisation, quantise
from oracle import recall_base as slow
from strategies.element_runs import gold_of

GRADES = [(0, 0), *product((1, 2, 3), repeat=2)]
COVERED = [(0, "N"), (1, "L"), (1, "S"), (1, "E"), (2, "L"), (2, "S"), (2, "E"), (3, "L"), (3, "E")]


def gains(said, scale, quant):
    """Gains of assessments (e, s, size, rsize), in their order."""
    gold = gold_of({("t1", "d1", f"/a[1]/b[{i}]"): row for i, row in enumerate(said, 10)}, scale)
    return quantise(gold, gold.elements, quant)


@pytest.mark.parametrize("quant", possible("grades"))
def test_every_pair_of_grades_has_the_gain_of_its_table(quant):
    said = [(*pair, 0, 0) for pair in GRADES]
    assert gains(said, "grades", quant).tolist() == [float(slow.gain(quant, row)) for row in said]


@pytest.mark.parametrize("quant", ["strict", "gen"])
def test_every_relevance_and_coverage_of_2002_has_the_gain_of_its_table(quant):
    said = [(*pair, 0, 0) for pair in COVERED]
    found = gains(said, "coverage", quant).tolist()
    assert found == [float(slow.gain(quant, row, "coverage")) for row in said]


def test_the_generalised_table_of_seed_001_read_by_eye():
    # Kazai & Lalmas 2005: 33 → 1; 23, 32, 31 → .75; 13, 22, 21 → .5; 12, 11 → .25; 00 → 0
    pairs = [(3, 3), (2, 3), (3, 2), (3, 1), (1, 3), (2, 2), (2, 1), (1, 2), (1, 1), (0, 0)]
    found = gains([(*pair, 0, 0) for pair in pairs], "grades", "gen").tolist()
    assert found == [1, 0.75, 0.75, 0.75, 0.5, 0.5, 0.5, 0.25, 0.25, 0]


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, "?"]), st.just(-1), st.integers(0, 9), st.integers(0, 12)), max_size=9)
)
def test_gains_of_2005_equal_their_formulas(said):
    for quant in ("strict5", "gen5", "genLifted", "spec"):
        found = gains(said, "exhaustivity", quant)
        np.testing.assert_array_equal(found, [float(slow.gain(quant, row)) for row in said])


def test_too_small_elements_are_near_misses_only_when_lifted():
    said = [("?", -1, 10, 5), (1, -1, 10, 5), (2, -1, 10, 10)]
    assert gains(said, "exhaustivity", "gen5").tolist() == [0, 0.5, 2]
    assert gains(said, "exhaustivity", "genLifted").tolist() == [0.5, 1, 3]
    assert gains(said, "exhaustivity", "strict5").tolist() == [0, 0, 1]


large = st.integers(1, 2**25 - 1)


@given(large, large, st.data())
def test_comparing_gains_decides_as_comparing_fractions_does(b, d, data):
    a = data.draw(st.integers(1, b))
    near = Fraction(a * d, b)
    c = data.draw(st.sampled_from([x for x in (int(near), int(near) + 1, int(near) - 1) if 1 <= x <= d] or [d]))
    for quant in ("spec", "gen5", "genLifted"):
        one, two = gains([(2, -1, b, a), (2, -1, d, c)], "exhaustivity", quant)
        x, y = Fraction(a, b), Fraction(c, d)
        assert ((one > two), (one < two)) == ((x > y), (x < y))


def test_what_was_not_assessed_gains_nothing():
    found = gains([("U", "U", 0, 0), (2, "U", 0, 0), (3, 3, 0, 0)], "grades", "gen")
    assert found.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("said", "scale", "found"),
    [
        ((0, 3, 0, 0), "grades", r"\(0, 3\)"),
        ((3, 0, 0, 0), "grades", r"\(3, 0\)"),
        ((4, 3, 0, 0), "grades", r"\(4, 3\)"),
        ((3, "S", 0, 0), "coverage", "3S"),
        ((3, -1, 5, 5), "exhaustivity", "exhaustivity 3"),
        ((2, -1, -1, 5), "exhaustivity", "size -1"),
    ],
)
def test_an_assessment_outside_the_scale_is_named(said, scale, found):
    with pytest.raises(InputError, match=f"assessments.xml: topic t1, document d1, /a.*, found .*{found}"):
        gains([said], scale, "auto")


def test_each_scale_has_its_own_default():
    found = {scale: quantisation("auto", scale) for scale in ("coverage", "grades", "exhaustivity", "highlights")}
    assert found == {"coverage": "gen", "grades": "gen", "exhaustivity": "gen5", "highlights": "spec"}


def test_a_quantisation_of_another_year_is_refused_with_what_is_possible():
    with pytest.raises(MeasureError, match="strict, gen, sog"):
        quantisation("spec", "grades")
    with pytest.raises(MeasureError, match=r"strict, gen$"):
        quantisation("sog", "coverage")
    with pytest.raises(MeasureError, match="found 'generous'"):
        quantisation("generous", "grades")
    with pytest.raises(MissingDataError, match="index="):
        quantisation("auto", "trec")


def test_one_sided_names_follow_one_pattern():
    assert {"e3_s321", "e3_s32", "e32_s3", "e321_s3"} <= set(QUANTISATIONS)
