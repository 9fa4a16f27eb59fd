"""Tables fit the terminal: at 80 columns, whatever their rows, columns and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.data.tables import UNLIMITED, Table, fold, numbers, render, size, words
from strategies.tables import NAMES, tables

MEASURES = ("nxCG@10", "MAgP", "iP@0.01", "EPRUM(A=0.01)", "MAep(base=full, quant=gen)")


def scores(runs, measures, name="run-{}"):
    """A table as ``score`` prints it."""
    names = [MEASURES[place % len(MEASURES)] for place in range(measures)]
    rows = tuple((name.format(run), *(run + place / 100 for place in range(measures)), 50) for run in range(runs))
    return Table("", (*words("run"), *numbers(*names, "topics")), rows)


def widest(text):
    return max(map(size, text.split("\n")))


@pytest.mark.parametrize("runs", [1, 2, 24])
@pytest.mark.parametrize("measures", range(1, 31))
@pytest.mark.parametrize(
    "name", ["run-{}", "a-system-whose-name-says-how-it-was-made-and-when-{}-lambda-0.5", "検索{}"]
)
def test_scores_of_any_number_of_runs_and_measures_fit_80_columns(runs, measures, name):
    table = scores(runs, measures, name)
    text = render([table], "table", width=80)
    assert widest(text) <= 80
    for row in table.cells():
        for cell in row[1:]:
            assert cell in text


@given(tables(rows=1), st.integers(40, 120))
def test_every_table_fits(table, width):
    assert widest(render([table], "table", width=width)) <= width


@given(NAMES, st.integers(2, 20))
def test_a_text_that_is_wrapped_keeps_its_characters(text, width):
    lines = fold(text, width)
    assert all(size(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_table_of_few_rows_is_turned_on_its_side():
    lines = render([scores(2, 10)], "table", width=80).splitlines()
    assert [line.split() for line in (lines[0], *lines[2:4])] == [
        ["run", "run-0", "run-1"],
        ["nxCG@10", "0.0000", "1.0000"],
        ["MAgP", "0.0100", "1.0100"],
    ]
    assert len(lines) == 2 + 11


def test_a_table_of_many_rows_comes_in_parts_that_repeat_the_names():
    table = Table("", (*words("run", "topic"), *numbers(*(f"measure-{n}" for n in range(12)))),
                  tuple((f"run-{n}", "101", *[0.5] * 12) for n in range(30)))  # fmt: skip
    parts = render([table], "table", width=80).split("\n\n")
    assert len(parts) == 3
    assert all(part.split()[:2] == ["run", "topic"] for part in parts)
    assert all(len(part.strip().split("\n")) == 2 + 30 for part in parts)
    assert [name for part in parts for name in part.split("\n")[0].split()[2:]] == [f"measure-{n}" for n in range(12)]


def test_headings_are_wrapped_at_blanks_before_anything_else():
    columns = (*words("run"), *numbers("topics that were answered", form=".1f"))
    assert render([Table("", columns, (("a", 0.5),))], "table", width=20).split("\n") == [
        "         topics that",
        "run    were answered",
        "───  ───────────────",
        "a                0.5",
        "",
    ]


def test_long_words_are_wrapped_and_notes_too():
    table = Table("", words("measure", "summary"), (("AP", "the mean of precision " * 5),), ("A sentence " * 9,))
    lines = render([table], "table", width=60).splitlines()
    assert lines[2].startswith("AP       the mean")
    assert lines[3].startswith("         ")
    assert lines[-2:] == ["A sentence " * 5 + "A", "sentence " + "A sentence " * 2 + "A sentence"]


def test_a_file_has_no_width():
    text = render([scores(24, 30)], "table", width=UNLIMITED)
    assert len(text.splitlines()) == 2 + 24


def test_the_terminals_width_is_taken_where_none_is_given(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    table = Table("", words("a", "b"), (("x" * 60, "y" * 60),))
    assert widest(render([table], "table")) == 100
    monkeypatch.setenv("COLUMNS", "0")
    assert widest(render([table], "table")) == 80


def test_a_table_without_headings_has_no_rule():
    assert render([Table("", (*words(""), *numbers("")), (("articles", 17),))], "table") == "articles  17\n"


def test_wide_characters_take_two_columns_and_combining_ones_none():
    table = Table("", (*words("run"), *numbers("AP")), (("検索", 0.5), ("e\u0301", 0.25)))
    assert render([table], "table").split("\n")[2:4] == ["検索  0.5000", "e\u0301     0.2500"]
