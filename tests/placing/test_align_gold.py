"""Gold spans against their quotes: verified, repaired, refused."""

import json

import pytest

from focuseval.errors import FormatError
from focuseval.formats.chroma import read
from focuseval.formats.content import source_of
from focuseval.placing import align_gold
from strategies.remarks import lines_of

TEXT = "The cat sat. The dog sat. The cat ran."


def gold_of(*spans, document="d"):
    """One question a span: (start, end, quote)."""
    lines = ["question,references,corpus_id"]
    for start, end, quote in spans:
        reference = json.dumps([{"start_index": start, "end_index": end, "content": quote}])
        lines.append(f'why,"{reference.replace(chr(34), chr(34) * 2)}",{document}')
    return read([source_of("\n".join(lines).encode(), "gold.csv")])


def test_spans_that_say_their_quote_stay():
    gold, found = align_gold(gold_of((4, 7, "cat"), (17, 20, "dog")), {"d": TEXT})
    assert found.summary() == "2 spans: 2 exact, 0 repaired, 0 ambiguous, 0 lost"
    assert gold.passages.start.tolist() == [4, 17]
    assert gold.articles.length.tolist() == [len(TEXT)] * 2


def test_the_summary_counts_every_shift():
    spans = [(5, 8, "cat")] * 3 + [
        (28, 31, "cat"),
        (15, 18, "dog"),
        (4, 7, "cat"),
        (17, 20, "cat"),
        (0, 3, "xyz"),
        (4, 9, "cat"),
    ]
    gold, found = align_gold(gold_of(*spans), {"d": TEXT})
    assert found.summary() == "9 spans: 1 exact, 6 repaired (−1: 3, +2: 2, 0: 1), 1 ambiguous, 1 lost"
    assert gold.passages.start.tolist() == [4, 4, 4, 30, 17, 4, -1, -1, 4]
    assert gold.articles.rsize.tolist() == [3, 3, 3, 3, 3, 3, 0, 0, 3]


def test_every_change_is_a_row_with_file_line_and_topic():
    _, found = align_gold(gold_of((4, 7, "cat"), (5, 8, "cat"), (17, 20, "cat")), {"d": TEXT})
    rows = found.repairs().to_pylist()
    assert [(row["file"], row["line"], row["topic"], row["how"], row["shift"]) for row in rows] == [
        ("gold.csv", 3, "q2", "exact", -1),
        ("gold.csv", 4, "q3", "ambiguous", 0),
    ]
    assert rows[0]["reason"] == "moved to the nearest occurrence"
    assert rows[1]["reason"] == "the text occurs 2 times and was left out; give its offset"


def test_the_nearest_occurrence_is_taken_not_the_first():
    gold, _ = align_gold(gold_of((29, 32, "cat")), {"d": TEXT})
    assert gold.passages.start.tolist() == [30]


def test_a_quote_spelt_otherwise_keeps_its_span():
    gold, found = align_gold(gold_of((0, 9, "Où  est-ce")), {"d": "Où est‐ce?"})
    assert (gold.passages.start.tolist(), gold.passages.end.tolist()) == ([0], [9])
    assert found.summary() == "1 span: 0 exact, 1 normalised, 0 repaired, 0 ambiguous, 0 lost"


def test_a_span_without_quote_must_lie_in_its_document():
    with pytest.raises(
        FormatError, match=r"gold.csv:2: expected a span within the 38 characters of 'd', found 30 … 99 for topic 'q1'"
    ):
        align_gold(gold_of((30, 99, "")), {"d": TEXT})


def test_an_unknown_document_is_named():
    with pytest.raises(
        FormatError, match=r"gold.csv:2: expected documents of the collection, found 'e' for topic 'q1'"
    ):
        align_gold(gold_of((4, 7, "cat"), document="e"), {"d": TEXT})


def test_overlapping_gold_is_counted_and_its_characters_once():
    references = [
        {"start_index": s, "end_index": e, "content": TEXT[s:e]} for s, e in ((0, 12), (4, 20), (20, 25), (4, 7))
    ]
    row = json.dumps(references).replace('"', '""')
    gold = read([source_of(f'question,references,corpus_id\nwhy,"{row}",d\n'.encode())])
    assert gold.overlapping() == 2
    assert lines_of(gold) == ("2 overlapping spans are united",)
    assert align_gold(gold, {"d": TEXT})[0].articles.rsize.tolist() == [25]
