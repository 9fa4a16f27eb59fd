"""Every layout shows what a table holds: readers of CSV, JSON, Markdown, HTML and LaTeX get the same cells back."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.tables import LAYOUTS, Table, html, latex_text, notebook, numbers, one_line, render, trec, words
from strategies.tables import NAMES, VALUES, tables

MEANS = Table(
    "Means", (*words("run"), *numbers("AP", "topics")), (("a", 0.123456, 1234), ("b", None, 6)), ("Two runs.",)
)


def comments(text):
    """The lines of a CSV file before its columns, and the rest."""
    lines = text.split("\n")
    count = next(place for place, line in enumerate(lines) if not line.startswith("# "))
    return lines[:count], "\n".join(lines[count:])


@given(tables())
def test_csv_is_read_back_with_all_digits(table):
    said, text = comments(render([table], "csv"))
    head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert head == [column.heading for column in table.columns]
    assert rows == [["" if value is None else str(value) for value in row] for row in table.rows]
    assert len(said) == sum(map(bool, (table.title, *table.notes)))


@pytest.mark.parametrize("cell", ["=1+1", "+0.5", "-0.5", "@a"])
def test_csv_leaves_a_cell_as_it_is_even_where_a_spreadsheet_would_compute_it(cell):
    assert render([Table("", words("run"), ((cell,),))], "csv") == f"run\n{cell}\n"


@given(tables(values=VALUES | st.sampled_from([math.nan, math.inf])))
def test_json_is_read_back_and_has_no_number_where_there_is_none(table):
    found = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert found["head"] == [column.heading for column in table.columns]
    assert [tuple(row) for row in found["body"]] == [tuple(map(plain, row)) for row in table.rows]
    assert (found["title"], found["notes"]) == (table.title, list(table.notes))


def plain(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown(table):
    """The cells that a reader sees: blanks at the edges and line breaks mean nothing to a layout."""
    return [[" ".join(one_line(cell).split()) for cell in row] for row in (table.headings, *table.cells())]


@given(tables(rows=1))
def test_markdown_is_read_back_as_the_same_cells(table):
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(render([table], "markdown"))
    cells = [after for before, after in pairwise(tokens) if before.type in {"th_open", "td_open"}]
    assert {part.type for cell in cells for part in cell.children} <= {"text", "text_special"}
    found = [" ".join("".join(part.content for part in cell.children).split()) for cell in cells]
    assert found == [cell for row in shown(table) for cell in row]


def test_markdown_escapes_what_it_would_read_as_its_own():
    table = Table("a`b`", words("x|y"), (("*z*",), ("S_L-R_S",), ("<0.001",), ("a\nb",), ("[c](d)",)))
    text = render([table], "markdown")
    assert text.split("\n")[0] == r"### a\`b\`"
    assert re.findall(r"^\| (.*) \|$", text, re.MULTILINE)[2:] == [r"\*z\*", "S_L-R_S", "&lt;0.001", "a b", r"[c\](d)"]


def test_words_are_set_to_the_left_and_numbers_to_the_right():
    assert "| --- | --: | --: |" in render([MEANS], "markdown")
    assert r"\begin{tabular}{lrr}" in render([MEANS], "latex")
    assert '<th scope="row"><bdi>a</bdi></th><td class="number">' in html(MEANS)
    assert render([MEANS], "table").split("\n")[1:4] == [
        "run      AP  topics",
        "───  ──────  ──────",
        "a    0.1235   1,234",
    ]


@given(tables(rows=1))
def test_html_is_whole_and_read_back_as_the_same_cells(table):
    tree = ET.fromstring(f"<div>{notebook(table, 'signed')}</div>")
    found = [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in tree.iter("tr")]
    expected = shown(table)
    assert found == (expected if any(table.headings) else expected[1:])
    assert [small.text for small in tree.iter("small")][-1] == "signed"


COMMANDS = re.compile(
    r"\\text(?:backslash|asciicircum|asciitilde)\{\}|\\ldots\{\}|\\[&%$#_{}]"
    r"|\$(?:[<>|-]|\\(?:star|cdot|times|checkmark|rightarrow|geq|leq|beta|rho|tau|langle|rangle))\$"
)


@given(NAMES)
def test_latex_leaves_no_sign_that_it_reads_as_its_own(text):
    assert not set(COMMANDS.sub("", latex_text(text))) & set("&%$#_{}\\^~<>|⋆τ−–≥≤→·✓✗—×ρβ…\n")


@given(tables(rows=1))
def test_a_latex_row_has_all_its_cells_and_no_argument_for_the_row_before(table):
    text = render([table], "latex")
    body = text[text.index("\\toprule") : text.index("\\bottomrule")].split("\n")
    rows = [line for line in body if line.endswith("\\\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows] == [len(table.columns)] * (1 + len(table.rows))
    assert not any(row.startswith(("[", "*")) for row in rows)


def test_a_latex_table_with_a_title_has_a_caption_and_its_notes_are_comments():
    assert render([MEANS], "latex", signature="signed").split("\n") == [
        r"\begin{table}", r"\caption{Means}", r"\begin{tabular}{lrr}", r"\toprule", r"run & AP & topics \\",
        r"\midrule", r"a & 0.1235 & 1,234 \\", r"b & -- & 6 \\", r"\bottomrule", r"\end{tabular}", r"\end{table}",
        "% Two runs.", "", "% signed", "",
    ]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_table_without_rows_says_its_title_and_notes(layout):
    text = render([Table("Pairs", words("run"), (), ("One run.\nNo pairs.",))], layout)
    assert "Pairs" in text
    assert "One run. No pairs." in text
    assert ("run\n" in text) == (layout == "csv")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_signature_is_one_line_after_all_tables(layout):
    text = render([MEANS, MEANS], layout, signature="v:1|" + "x" * 100)
    assert "v:1|" + "x" * 100 in text.split("\n")[-2]
    assert text.count("Two runs.") == 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_characters_that_control_a_terminal_are_spelt_out(layout):
    text = render([Table("", words("run"), (("a\x1b[31m\u202e",),))], layout)
    assert ("⟨U+001B⟩" in text) == (layout in {"table", "markdown"})
    assert ("\x1b" in text) == (layout == "csv")


def test_trec_lines_are_name_topic_and_value():
    assert trec([("MAgP( beta = 1 )", "all", "0.5000")]) == "MAgP(beta=1)          \tall\t0.5000\n"
