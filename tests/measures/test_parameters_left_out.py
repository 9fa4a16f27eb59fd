"""A function of a measure that is called without a parameter computes what its declaration calls the default."""

from fractions import Fraction

import numpy as np
import pytest

import focuseval
from focuseval.measures.catalogue import MEASURES
from focuseval.measures.entry_points import eprum_over_recall, expected_ratio, prum, prum_curve
from focuseval.measures.graded import average_precall, precall_curve
from focuseval.measures.measure import every_measure
from focuseval.measures.xcg import (
    browse,
    browse_effort_precision,
    browse_scores,
    cumulated_gain,
    effort_curve,
    effort_precision_at,
    gain_curve,
    gain_recall,
    ideal_curve,
    ideal_gain,
    interpolated_mean_effort_precision,
    mean_average_effort_precision,
    mean_normalised_cumulated_gain,
    normalised_cumulated_gain,
    normalised_curve,
)
from strategies.element_runs import Case

HALF = Fraction(1, 2)
LINK = "/a[1]/b[2]/link[1]"
CASE = Case(
    "highlights",
    "spec",
    {
        ("t1", "d1", "/a[1]"): (2, -1, 60, 30),
        ("t1", "d1", "/a[1]/b[1]"): (2, -1, 20, 15),
        ("t1", "d1", "/a[1]/b[2]"): (2, -1, 20, 12),
        ("t1", "d1", LINK): (2, -1, 10, 10),
        ("t1", "d2", "/a[1]/bb[1]"): (2, -1, 20, 8),
    },
    {"t1": [("d2", "/z[1]"), ("d1", "/a[1]/b[2]"), ("d2", "/a[1]/bb[1]"), ("d1", LINK), ("d1", "/a[1]/b[1]")]},
)
FUNCTIONS = {
    mean_average_effort_precision: ((), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    interpolated_mean_effort_precision: ((), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    effort_precision_at: ((HALF,), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    effort_curve: ((), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    cumulated_gain: ((4,), {"quant": "spec", "base": "filtered"}),
    gain_recall: ((4,), {"quant": "spec", "base": "filtered"}),
    gain_curve: ((), {"quant": "spec", "base": "filtered"}),
    ideal_gain: ((4,), {"quant": "spec", "base": "filtered"}),
    ideal_curve: ((), {"quant": "spec", "base": "filtered"}),
    normalised_cumulated_gain: ((4,), {"quant": "spec", "base": "filtered", "ideal": "ideal"}),
    mean_normalised_cumulated_gain: ((4,), {"quant": "spec", "base": "filtered", "ideal": "ideal"}),
    normalised_curve: ((), {"quant": "spec", "base": "filtered", "ideal": "ideal"}),
    browse_effort_precision: ((), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    browse_scores: ((), {"quant": "spec", "base": "filtered", "ideal": "rank"}),
    eprum_over_recall: ((0.1, "contains"), {"quant": "spec", "base": "filtered"}),
    prum: ((), {"quant": "spec", "base": "filtered", "nav": "contains"}),
    prum_curve: ((), {"quant": "spec", "base": "filtered", "nav": "contains"}),
    average_precall: ((), {"quant": "spec", "unretrieved": "zero"}),
    precall_curve: ((), {"quant": "spec", "unretrieved": "zero"}),
}
OTHERS = {"quant": "strict5", "base": "full", "ideal": {"rank": "line", "ideal": "full"}}


def matched():
    return CASE.matched(base="filtered", filtered_tags=("link",))


def same(found, wanted):
    """Values, or the two columns of a curve, are equal."""
    for mine, theirs in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("function", FUNCTIONS, ids=[getattr(one, "__name__", "curve") for one in FUNCTIONS])
def test_what_is_left_out_is_the_default(function):
    at, spelled = FUNCTIONS[function]
    same(function(matched(), *at), function(matched(), *at, **spelled))
    for name in spelled:
        some = {other: value for other, value in spelled.items() if other != name}
        same(function(matched(), *at, **some), function(matched(), *at, **spelled))


@pytest.mark.parametrize("name", ["quant", "base", "ideal"])
def test_every_parameter_makes_a_difference_to_some_function(name):
    different = set()
    for function, (at, spelled) in FUNCTIONS.items():
        if name in spelled:
            other = OTHERS[name][spelled[name]] if name == "ideal" else OTHERS[name]
            found = [function(matched(), *at, **{**spelled, name: value}) for value in (spelled[name], other)]
            if not np.array_equal(*(x[1] if isinstance(x, tuple) else x for x in found), equal_nan=True):
                different.add(function)
    assert len(different) > 4


def test_expected_ratio_and_the_articles_of_a_browse_have_the_same_defaults():
    spelled = {"quant": "spec", "base": "filtered"}
    same(expected_ratio(matched(), at=3), expected_ratio(matched(), at=3, nav="contains", **spelled))
    mine, theirs = browse(matched()), browse(matched(), **spelled)
    same(mine.hit_reach, theirs.hit_reach)
    same(mine.base.gain, theirs.base.gain)


def test_every_measure_is_in_the_catalogue_once():
    assert every_measure() == MEASURES == focuseval.MEASURES
    assert len(MEASURES) == len({measure.name for measure in MEASURES}) > 40
