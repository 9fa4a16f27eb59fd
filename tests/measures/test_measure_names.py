"""Names of measures and profiles: what is refused, word for word, and numbers that print as they were meant."""

import pytest

import focuseval as fe
from focuseval.errors import MeasureError
from focuseval.measures.citations import reference
from focuseval.measures.measure import number
from focuseval.measures.profiles import PROFILES, Profile, profile_named


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MAgQ", "unknown measure 'MAgQ'; did you mean MAgP, MAnxCG, MAP? ('focuseval measures' lists all)"),
        ("zzzzzzzz", "unknown measure 'zzzzzzzz' ('focuseval measures' lists all)"),
        ("a b", "'a b' is not a measure's name; expected NAME, NAME(parameter=value) or NAME@k"),
        ("i2AP@5", "i2AP@5: i2AP takes no '@'; write i2AP"),
        ("gP", "gP: expected a cut-off, as in gP@10"),
        ("iP", "iP: expected a cut-off, as in iP@0.1"),
        ("gP@0", "gP@0: expected a rank such as 10 (1000000 at most) after '@', found '0'"),
        ("gP@1000001", "gP@1000001: expected a rank such as 10 (1000000 at most) after '@', found '1000001'"),
        (
            "iP@1.01",
            "iP@1.01: expected a recall level from 0 to 1 such as 0.01 (9 decimals at most) after '@', found '1.01'",
        ),
        ("charP@5", "charP@5: expected a budget of characters such as 2000c after '@', found '5'"),
        (
            "spanR@x",
            (
                "spanR@x: expected a rank such as 10 (1000000 at most) or a budget of characters such as 2000c or "
                "a budget of words such as 500w or a budget of tokens such as 500t after '@', found 'x'"
            ),
        ),
        ("AP(x=1)", "AP has no parameter 'x'; it has none"),
        ("MAgP(foo=1)", "MAgP has no parameter 'foo'; it has beta, gain, credit, form, score, irr, n"),
        ("MAgP(beta=1, beta=2)", "MAgP: parameter 'beta' is given twice; keep one"),
        ("MAgP(beta=-0.5)", "MAgP(beta=-0.5): expected 0 or more"),
        ("MAgP(beta=nan)", "MAgP(beta=nan): expected a number up to 1000000000, found 'nan'"),
        ("MAgP(beta=1_0)", "MAgP(beta=1_0): expected a number up to 1000000000, found '1_0'"),
        ("MAgP(beta=abc)", "MAgP(beta=abc): expected a number up to 1000000000, found 'abc'"),
        ("MAgP(gain=a)", "MAgP(gain=a): expected one of documents, length"),
    ],
)
def test_a_name_that_is_none_is_refused_in_one_line(name, told):
    with pytest.raises(MeasureError) as caught:
        fe.parse(name)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("value", "printed"),
    [(1.0, "1"), (0.25, "0.25"), (0.1 + 0.2, "0.30000000000000004"), (1e-13, "1e-13"), (7, "7"), ("gen", "gen")],
)
def test_a_parameter_prints_so_that_it_reads_back(value, printed):
    assert number(value) == printed
    assert isinstance(value, str) or float(number(value)) == value


def test_a_profile_that_does_not_exist_is_refused_and_others_are_offered():
    with pytest.raises(MeasureError, match=r"^unknown profile 'rags'; did you mean rag\?$"):
        profile_named("rags")
    with pytest.raises(MeasureError) as caught:
        profile_named("zzz")
    assert str(caught.value) == f"unknown profile 'zzz'; there are {', '.join(p.name for p in PROFILES)}"
    assert profile_named("rag").name == "rag"


def test_a_task_that_a_profile_does_not_have_is_refused_and_its_own_are_named():
    own = Profile("own", "", {"focused": ("AP",), "thorough": ("MAep",)}, {"cutoff": 5}, {"thorough": {"beta": 2}})
    with pytest.raises(MeasureError, match=r"^profile own has no task 'spans'; it has focused, thorough$"):
        own.task("spans")
    assert (own.task(None), own.task("thorough")) == ("focused", "thorough")
    assert own.policies_of("focused") == {"cutoff": 5}
    assert own.policies_of("thorough") == {"cutoff": 5, "beta": 2}


def test_a_user_s_own_measure_has_a_citation_that_nobody_else_knows():
    assert reference("nobody2020") == "nobody2020"
    assert reference("focuseval") == "focuseval: Defined by focuseval; see CITATION.cff in the project's root."


def test_a_parameter_that_needs_no_name_is_printed_without_one():
    assert str(fe.parse("ceiling(M=spanP)")) == "ceiling(spanP)"
