"""Cutters that follow a text: sections, what fits, and where the subject changes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import focuseval as fe
from focuseval.collection.chunks import headings, recursive, semantic
from focuseval.errors import FocusevalError

MARKDOWN = """Before.

# Install

```sh
# no heading
```

## From source

Run make.

### Details

More.

Usage
-----

Type it.
"""


def cut(text, spans):
    return [text[a:b] for a, b in spans]


def test_sections_begin_at_headings_of_the_level():
    assert [part.partition("\n")[0] for part in cut(MARKDOWN, headings(MARKDOWN, 1))] == ["Before.", "# Install"]
    two = [part.partition("\n")[0] for part in cut(MARKDOWN, headings(MARKDOWN, 2))]
    assert two == ["Before.", "# Install", "## From source", "Usage"]
    three = [part.partition("\n")[0] for part in cut(MARKDOWN, headings(MARKDOWN, 3))]
    assert three == ["Before.", "# Install", "## From source", "### Details", "Usage"]


def test_a_rule_below_an_empty_line_and_a_closed_fence_are_no_headings():
    text = "a\n\n---\n\nb\n~~~\n# c\n```\n# d\n~~~\n# e\nf"
    assert cut(text, headings(text, 6)) == ["a\n\n---\n\nb\n~~~\n# c\n```\n# d\n~~~", "# e\nf"]


texts = st.text(alphabet="ab \n.", max_size=60)


@given(texts, st.integers(1, 20))
def test_every_letter_is_in_one_chunk_that_fits(text, size):
    spans = recursive(text, size)
    assert "".join("".join(part.split()) for part in cut(text, spans)) == "".join(text.split())
    assert all(0 < b - a <= size for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))


@given(texts)
def test_sections_hold_the_whole_text(text):
    assert "".join("".join(part.split()) for part in cut(text, headings(text, 2))) == "".join(text.split())


def test_a_new_subject_begins_a_new_chunk():
    text = "Tea is hot. Tea is black. Ships sail. Ships sink."
    near = lambda texts: np.array([[1.0, 0.1] if "Tea" in one else [0.0, 1.0] for one in texts], np.float32)  # noqa: E731
    assert cut(text, semantic([text], 60, near)[0]) == ["Tea is hot. Tea is black.", "Ships sail. Ships sink."]
    assert semantic(["", "One."], 95, near) == [[], [(0, 4)]]


def test_specs_cut_documents():
    docs = {"a": MARKDOWN, "b": "One two three."}
    assert len(fe.chunk(docs, "headings:2")) == 5
    assert fe.chunk(docs, "recursive:50").name == "recursive:50"
    made = fe.chunk(docs, "semantic:90", embed=lambda texts: np.array([[len(t), 1.0] for t in texts], np.float32))
    assert len(made) >= 2
    for wrong, said in (
        ("headings:7", "write headings:N with a whole number from 1 to 6"),
        ("recursive:400/300", "write recursive:N with a whole number"),
        ("semantic:90", "expected an embedder for chunks by meaning, found none"),
    ):
        with pytest.raises(FocusevalError, match=said):
            fe.chunk(docs, wrong)


def test_pieces_are_those_of_langchain_where_they_do_not_overlap():
    splitters = pytest.importorskip("langchain_text_splitters", reason="langchain-text-splitters is not installed")
    text = "One two three.\n\nFour five six seven eight.\nNine ten.\n\n" * 3 + "Eleven twelve thirteen fourteen"
    theirs = splitters.RecursiveCharacterTextSplitter(chunk_size=30, chunk_overlap=0).split_text(text)
    assert cut(text, recursive(text, 30)) == theirs
