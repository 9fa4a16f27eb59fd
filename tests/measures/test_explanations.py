"""``focuseval measures NAME``: every measure says what it is, how it is computed, and whom to cite."""

import re
from pathlib import Path

import pytest

from focuseval.measures import MEASURES, parse
from focuseval.measures.citations import CITATIONS
from focuseval.measures.explain import explain, overview

BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "reference" / "bibliography.md"


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_measure_is_explained_with_formula_bounds_example_and_whole_reference(measure):
    page = explain(measure.name)
    for heading in ("Formula", "Bounds", "Example", "Needs", "Cite"):
        assert re.search(rf"^{heading} +\S", page, re.MULTILINE), heading
    assert measure.summary in page
    assert CITATIONS[measure.cite] in page
    for parameter in measure.parameters:
        assert f"Parameter   {parameter.name}: " in page


def test_the_bibliography_has_every_key_and_no_other():
    keys = re.findall(r"^\((\w+)\)=$", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(keys) == sorted(CITATIONS) == sorted({m.cite for m in MEASURES})


def test_a_cut_off_is_shown_as_it_is_written():
    shown = [row[0] for row in overview(MEASURES).rows]
    assert {"nxCG@k", "iP@x", "charP[@Nc]", "MAgP[@Nc]", "spanR[@k]", "AP"} <= set(shown)


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
