"""Scores, comparisons and heat maps show themselves in a notebook: HTML that is whole, escaped and alone."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import focuseval as fe
from building import gold_of, run_of
from focuseval.inference.comparison import compare

GOLD = gold_of({f"q{i}": {"d": {"spans": [(0, 100)]}} for i in range(6)})
GOOD = run_of({f"q{i}": [("d", 0, 90 + i)] for i in range(6)}, run_id="good & <b>old</b>")
POOR = run_of({f"q{i}": [("d", 0, 10 + i)] for i in range(6)}, run_id="poor")


def parsed(value):
    html = value._repr_html_()
    assert "<script" not in html
    assert "http" not in html
    return ET.fromstring(f"<div>{html}</div>")


def cells(tree):
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


def test_scores_show_means_counts_and_signature():
    scores = fe.evaluate(GOLD, [GOOD, POOR], ["spanR"])
    tree = parsed(scores)
    assert cells(tree)[1][:3] == ["good & <b>old</b>", "0.9250", "6"]
    assert tree.find(".//small").text == scores.signature


def test_a_comparison_shows_every_pair_with_its_interval():
    tree = parsed(fe.evaluate(GOLD, [POOR, GOOD], ["spanR"]).compare("spanR"))
    head, row = cells(tree)
    assert head[:3] == ["better", "worse", "difference"]
    assert row[:3] == ["good & <b>old</b> (0.9250)", "poor (0.1250)", "+0.8000"]
    assert (row[4], row[5], row[7]) == ("0.0312", "0.0312 ⋆", "6 / 0 / 0")
    assert tree.find(".//small").text == "1 of 1 pair differs significantly under spanR."


def test_a_single_run_shows_why_there_is_no_pair():
    tree = parsed(fe.evaluate(GOLD, [GOOD], ["spanR"]).compare("spanR"))
    assert tree.find(".//small").text == "One run cannot be compared: give at least two."
    assert tree.find("table") is None


def test_a_printed_comparison_is_a_table_too():
    values = np.array([[1.0] * 8, [0.5] * 7 + [1.0]])
    lines = str(compare("AP", ("new", "old"), tuple("abcdefgh"), values)).splitlines()
    assert lines[0] == "Pairs under AP"
    cells = {heading: value for heading, _, value in (line.partition("  ") for line in lines)}
    assert cells["better"].strip() == "new (1.0000)"
    assert (cells["p"].strip(), cells["p (Holm)"].strip()) == ("0.0156", "0.0156 ⋆")
    assert cells["won / tied / lost"].strip() == "7 / 1 / 0"
    assert "1 of 1 pair differs significantly under AP." in lines
    assert "randomisation, two-tailed at 0.05, exact, Holm over 1 pair; 8 topics." in lines


@pytest.mark.parametrize("runs", [3, 5])
def test_many_runs_show_all_their_pairs(runs):
    names = tuple(f"r{i}" for i in range(runs))
    shown = parsed(compare("AP", names, ("a", "b", "c"), np.arange(runs * 3.0).reshape(runs, 3) / 20))
    assert len(cells(shown)) == 1 + runs * (runs - 1) // 2
