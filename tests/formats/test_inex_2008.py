"""Assessments of 2008–10 are read as columns: the same judgements, or the same line to blame, as line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuseval.errors import FormatError
from focuseval.formats.content import source_of
from focuseval.formats.inex_2008 import read
from oracle.text_lines import RefusedError
from oracle.text_lines import assessments as one_by_one


@st.composite
def assessments(draw):
    lines = []
    pairs = st.tuples(st.sampled_from(["7", "2009001", "a"]), st.sampled_from(["d1", "d-2", "15.xml", "é"]))
    for topic, document in draw(st.lists(pairs, min_size=1, max_size=9, unique_by=None)):
        length = draw(st.sampled_from([60, 60, 60, 30, 0, -1, -2]))
        marks = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 25)), max_size=3))
        size = draw(st.sampled_from([sum(n for _, n in marks), 0, 5, "+5", "five"]))
        bep = draw(st.sampled_from([[], [-1], [3], ["X"]])) if not marks else [draw(st.sampled_from([-1, 0, 9, 70]))]
        words = [topic, "Q0", document, size, length, *bep, *(f"{at}:{n}" for at, n in marks)]
        words = words[: draw(st.sampled_from([9, 9, 9, 9, 9, 9, 4]))]
        lines.append(draw(st.sampled_from([" ", " ", " ", "\t", "  "])).join(map(str, words)))
    return draw(st.sampled_from(["\n", "\n", "\n", "\r\n"])).join(lines) + draw(
        st.sampled_from(["\n", "\n", "", "\n\n", "\n1 Q0 \xff 0 9", "\n1 Q0 d9 0 9 0 1:x"])
    )


def judged(gold):
    a, p, names = gold.articles, gold.passages, gold.documents.to_pylist()
    marks = {}
    for topic, document, start, end in zip(*(c.tolist() for c in (p.topic, p.document, p.start, p.end)), strict=True):
        marks.setdefault((topic, document), []).append((start, end))
    columns = (a.topic, a.document, a.rsize, a.length, a.bep, a.line)
    return [
        (gold.topics[topic], names[document], size, length, bep, marks.get((topic, document), []), line)
        for topic, document, size, length, bep, line in zip(*(column.tolist() for column in columns), strict=True)
    ]


@given(assessments(), st.sampled_from(["utf-8", "latin-1"]))
def test_what_is_read_as_columns_is_what_is_read_line_by_line(text, encoding):
    source = source_of(text.encode(encoding), "qrels")
    try:
        expected = one_by_one(source.data)
    except RefusedError as refusal:
        line, what = refusal.args
        with pytest.raises(FormatError) as caught:
            read([source])
        assert str(caught.value).startswith(f"qrels:{line}: {what}")
    else:
        gold = read([source])
        order = {topic: code for code, topic in enumerate(gold.topics)}
        assert judged(gold) == sorted(expected, key=lambda row: order[row[0]])
        assert gold.articles.relevance.tolist() == [int(bool(row[5])) for row in judged(gold)]


def test_judgements_are_grouped_by_topic_and_keep_their_lines():
    text = "1 Q0 d1 100 400 50 50:60 200:40\n\n2 Q0 d9 10 20 -1 5:10\n1 Q0 d2 0 300\n"
    gold = read([source_of(text.encode(), "qrels")])
    assert (gold.topics, gold.documents.to_pylist(), gold.remarks) == (("1", "2"), ["d1", "d9", "d2"], ())
    assert (gold.articles.document.tolist(), gold.articles.line.tolist()) == ([0, 2, 1], [1, 4, 3])
    assert (gold.articles.bep.tolist(), gold.articles.rsize.tolist()) == ([50, -1, -1], [100, 0, 10])
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([50, 200, 5], [110, 240, 15])
    assert gold.passages.line.tolist() == [1, 1, 3]


def test_several_files_are_one_gold_and_the_first_wrong_line_is_named():
    one, two = source_of(b"1 Q0 a 5 9 0 0:5\n", "one"), source_of(b"2 Q0 a 0 9\n1 Q0 b 3 9 0 1:3\n", "two")
    gold = read([one, two])
    assert (gold.sources, gold.articles.source.tolist()) == (("one", "two"), [0, 1, 1])
    assert gold.passages.start.tolist() == [0, 1]
    with pytest.raises(FormatError, match=r"^two:2: expected one judgement of document 'a' for topic '1', found anot"):
        read([one, source_of(b"2 Q0 a 0 9\n1 Q0 a 0 9\n1 Q0\n", "two")])
    with pytest.raises(FormatError, match=r"^one:1: expected a passage within the document's 4 characters, found 0:5"):
        read([source_of(b"1 Q0 a 5 4 0 0:5\n", "one"), source_of(b"\0", "two")])
    with pytest.raises(FormatError, match=r"^two:1: expected text, found a NUL byte"):
        read([one, source_of(b"\0", "two")])
