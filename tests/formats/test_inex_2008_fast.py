"""Assessments of 2008–10: the reader of columns and the reader of lines return the same gold, or the lines decide."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.formats import inex_2008_fast
from focuseval.formats.inex_2008 import read_slow
from focuseval.formats.source import source_of


@pytest.fixture(autouse=True)
def small_files_too(monkeypatch):
    monkeypatch.setattr(inex_2008_fast, "SMALL", 0)


@st.composite
def assessments(draw):
    lines = []
    pairs = st.tuples(st.sampled_from(["7", "2009001", "a"]), st.sampled_from(["d1", "d-2", "15.xml", "é"]))
    for topic, document in draw(st.lists(pairs, min_size=1, max_size=9, unique_by=None)):
        length = draw(st.integers(0, 60))
        marks = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 25)), max_size=3))
        size = draw(st.sampled_from([sum(n for _, n in marks), 0, 5]))
        bep = draw(st.sampled_from([[], [-1], [3], ["X"]])) if not marks else [draw(st.sampled_from([-1, 0, 9, 70]))]
        words = [topic, "Q0", document, size, length, *bep, *(f"{at}:{n}" for at, n in marks)]
        lines.append(draw(st.sampled_from([" ", " ", " ", "\t", "  "])).join(map(str, words)))
    return draw(st.sampled_from(["\n", "\n", "\n", "\r\n"])).join(lines) + draw(
        st.sampled_from(["\n", "\n", "", "\n\n"])
    )


def same(one, other):
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    return one.to_pylist() == other.to_pylist() if hasattr(one, "to_pylist") else one == other


@given(assessments())
def test_what_is_read_as_columns_is_what_is_read_line_by_line(text):
    source = source_of(text.encode(), "qrels")
    fast = inex_2008_fast.read_fast(source)
    if fast is not None:
        gold, differ = read_slow([source])
        assert differ == fast[1]
        assert same(fast[0], gold)


def test_a_regular_file_is_read_as_columns():
    text = "1 Q0 d1 100 400 50 50:60 200:40\n2 Q0 d9 10 20 -1 5:10\n1 Q0 d2 0 300\n"
    gold, differ = inex_2008_fast.read_fast(source_of(text.encode(), "qrels"))
    assert (gold.topics, gold.documents.to_pylist(), differ) == (("1", "2"), ["d1", "d9", "d2"], 0)
    assert (gold.articles.document.tolist(), gold.articles.line.tolist()) == ([0, 2, 1], [1, 3, 2])
    assert (gold.articles.bep.tolist(), gold.articles.rsize.tolist()) == ([50, -1, -1], [100, 0, 10])
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([50, 200, 5], [110, 240, 15])


@pytest.mark.parametrize(
    "text",
    [
        "1 Q0 d1 10 20 5 5:10",  # no end of the last line
        "1 Q0 d1 10 20 5 5:10\r\n",
        "1 Q0 d1 10 20 5 5:16\n",  # past the end
        "1 Q0 d1 10 20 21 5:10\n",
        "1 Q0 d1 10 20 5\n",  # relevant characters without a passage
        "1 Q0 d1 0 20\n1 Q0 d1 0 20\n",
        "1 Q0 d1 0x1 20 0 0:1\n",
        "1 Q0 d1 0\n",
        "1  Q0 d1 0 20\n",
        "1 Q0 é 0 20\n",
    ],
)
def test_what_is_odd_is_left_to_the_lines(text):
    assert inex_2008_fast.read_fast(source_of(text.encode(), "qrels")) is None
