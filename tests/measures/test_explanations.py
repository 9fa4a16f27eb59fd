"""``focuseval measures NAME``: every measure says what it is, how it is computed, and whom to cite."""

import itertools
import json
import re
from pathlib import Path

import pytest

import focuseval.measures.explain as module
from focuseval.measures import parse
from focuseval.measures.catalogue import MEASURES
from focuseval.measures.explain import CITATIONS, explain, explain_profile, overview, readable
from focuseval.measures.measure import FAMILIES, Measure, Parameter
from focuseval.measures.profiles import Policies, Profile

BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "reference" / "bibliography.md"


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_measure_is_explained_with_formula_bounds_example_and_whole_reference(measure):
    page = explain(measure.name)
    assert max(map(len, page.splitlines())) <= 80
    assert "\\" not in re.search(r"^Formula .*(\n +.*)*", page, re.MULTILINE)[0]
    whole = unfolded(page)
    for heading in ("Formula", "Bounds", "Example", "Needs", "Cite"):
        assert re.search(rf"^{heading} +\S", page, re.MULTILINE), heading
    assert measure.summary in whole
    assert unfolded(CITATIONS[measure.cite]) in whole
    for parameter in measure.parameters:
        assert f"Parameter {parameter.name}: " in whole


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_definition_is_plain_paragraphs_of_whole_lines(measure):
    before = explain(measure.name).partition("\nFormula ")[0]
    assert [line for line in before.splitlines() if line.startswith((" ", "Return ")) or set(line) & set("`*")] == []
    for paragraph in before.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("Also called ")]
        short = [line for line, after in itertools.pairwise(lines) if len(f"{line} {after.split()[0]}") <= 80]
        assert short == []


def unfolded(page):
    """A page as one line: long lines are folded under their label."""
    return " ".join(page.split())


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{1}{2}", "1/2"),
        (r"\frac{a + b}{c}", "(a + b) / c"),
        (r"\sum_{j=1}^{k} nxCG[j]", "Σ[j=1 … k] nxCG[j]"),
        (r"|U \cap H| / |U \cup H|", "|U ∩ H| / |U ∪ H|"),
        (r"[H \subseteq U] \ne \emptyset", "[H ⊆ U] ≠ ∅"),
        (r"\frac{\text{read}}{\text{read twice}}", "read / (read twice)"),
        (r"g^*_i \, \log_2(i)", "g*_i log₂(i)"),
    ],
)
def test_a_formula_is_plain_text(latex, text):
    assert readable(latex) == text


def test_the_bibliography_has_every_key_and_no_other():
    keys = re.findall(r"^\((\w+)\)=$", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(keys) == sorted(CITATIONS) == sorted({m.cite for m in MEASURES})


def test_a_cut_off_is_shown_as_it_is_written():
    shown = [row[0].strip() for table in overview() for row in table.rows]
    assert {"nxCG@k", "iP@x", "charP[@Nc]", "MAgP[@Nc]", "spanR[@k]", "AP[@k]", "Rprec"} <= set(shown)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("EPRUM", "entry points"),
        ("EPRUM(nav=contains)", "elements"),
        ("PRUM", "elements"),
        ("ERRel(nav=distance)@5", "entry points"),
        ("MAgP", "spans"),
        ("MAgP(score=bep, n=1000)", "entry points"),
        ("gP(score=ep)@5", "elements"),
    ],
)
def test_a_parameter_may_change_what_a_measure_needs(name, needs):
    assert parse(name).needs == (needs,)
    assert needs in re.search(r"^Needs +(.*)$", explain(name), re.MULTILINE)[1]


def test_a_cut_off_changes_no_explanation():
    assert explain("gP@10") == explain(" gP ") == explain("gP")


def own_function():
    r"""Return what is ours.

    .. math:: x = y

    With a second paragraph.
    """


def undocumented():
    pass


OWN = Measure(
    "own",
    own_function,
    "What is ours.",
    "nobody2020",
    needs=("spans", "index"),
    needs_if={("score", "bep"): ("entry points", "spans")},
    at=("rank", "words"),
    parameters=(
        Parameter("score", "f", "Which score.", ("f", "bep")),
        Parameter("beta", 2.0, "Weight of recall.", policy=True),
    ),
    bounds=(0.0, float("inf")),
    formula="x = y",
    example="One of two: 0.5.",
    perfect_unless="score=bep",
    tasks=("focused", "thorough"),
    aliases=("mine", "ours"),
)
PLAIN = Measure("plain", undocumented, "Nothing else.", "nobody2020", at=("level",), at_required=True, perfect=False)


@pytest.fixture
def asked(monkeypatch):
    """The names that were looked up; there are two measures."""
    names = []
    monkeypatch.setattr(module, "named", lambda name: names.append(name) or {"own": OWN, "plain": PLAIN}[name])
    return names


def test_a_page_says_everything_that_is_declared(asked):
    assert explain(" own(score=(f))@3@(4)").splitlines() == [
        "own[@k]",
        "",
        "What is ours.",
        "Also called mine, ours.",
        "",
        "What is ours.",
        "",
        "With a second paragraph.",
        "",
        "Formula     x = y",
        "Cut-off     @k, a rank: @10 (may be left out)",
        "Cut-off     @Nw, a budget of words: @500w (may be left out)",
        "Parameter   score: Which score. (f, bep) Default f.",
        "Parameter   beta: Weight of recall. Default the policy of that name, usually 2.",
        "Bounds      0 to inf; a perfect run reaches the upper one, but for score=bep or",
        "            a budget",
        "Needs       spans, index; entry points, spans with score=bep",
        "Tasks       focused, thorough",
        "Example     One of two: 0.5.",
        "Cite        nobody2020",
    ]
    assert asked == ["own"]


def test_a_page_leaves_out_what_is_not_declared(asked):
    assert explain("plain") == (
        "plain@x\n\nNothing else.\n\n"
        "Cut-off     @x, a recall level from 0 to 1: @0.01\nBounds      0 to 1\nCite        nobody2020\n"
    )


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({}, "; a perfect run reaches the upper one"),
        ({"perfect": False, "perfect_unless": "x=1"}, ""),
        ({"perfect_unless": "x=1"}, "; a perfect run reaches the upper one, but for x=1"),
        ({"at": ("characters",)}, "; a perfect run reaches the upper one, but for a budget"),
        ({"at": ("words",), "perfect_unless": "x=1"}, "; a perfect run reaches the upper one, but for x=1 or a budget"),
        ({"at": ("rank",)}, "; a perfect run reaches the upper one"),
    ],
)
def test_a_page_says_what_keeps_a_perfect_run_from_the_upper_bound(monkeypatch, declared, said):
    monkeypatch.setattr(module, "named", lambda name: Measure(name, undocumented, "", "", **declared))
    assert f"Bounds 0 to 1{said} Cite" in unfolded(explain("x"))


def test_an_overview_has_a_table_for_every_family_and_a_row_for_every_measure():
    tables = overview()
    assert [table.title for table in tables] == [family.title for family in FAMILIES]
    assert [row[1] for table in tables for row in table.rows] == [measure.summary for measure in MEASURES]
    assert len({len(row[0]) for table in tables for row in table.rows}) == 1  # all names as wide as the widest


def test_json_has_every_measure_and_profile_as_declared():
    declared = {one["name"]: one for one in json.loads(json.dumps(module.as_json()))}
    assert declared.keys() == {measure.name for measure in MEASURES}
    assert declared["gP"]["formula"].startswith("gP[r] = \\frac")
    assert declared["gP"]["parameters"][0]["name"] == "beta"


def policies(**changes):
    said = Policies(**changes).signature().replace("|", ", ").split("cas:")
    return f"{said[0].strip()}\n            cas:{said[1]}"


def test_a_profile_is_explained_task_by_task():
    own = Profile("own", "Ours.", {"focused": ("A", "B"), "thorough": ("C",)}, {"cutoff": 5}, {"thorough": {"beta": 2}})
    assert explain_profile(own) == (
        "own\n\nOurs.\n\n"
        f"Task        focused\nMeasures    A, B\nDecides     A\nPolicies    {policies(cutoff=5)}\n\n"
        f"Task        thorough\nMeasures    C\nDecides     C\nPolicies    {policies(cutoff=5, beta=2)}\n"
    )
