"""INEX assessments as text (2008–2010): highlighted passages by offset, one judged document a line.

::

    topic Q0 document relevant-characters document-length [BEP offset:length …]
    2009001 Q0 1528075 49158 58542 126 126:28761 28893:20397
    2009001 Q0 1528099 0 300

Five columns: judged and not relevant. The sixth is the best entry point (``-1``: none), the others are the
highlighted passages. A passage that runs past the document's length is refused; a sum of passages that differs from
the fourth column is counted in the gold's remarks, and both numbers are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.remarks import counted_kinds
from focuseval.errors import FormatError
from focuseval.formats.columns import Fields, Layout, known_numbers, no_number, refuse_swapped, sound_lines, words
from focuseval.formats.content import Source, refuse_binary
from focuseval.formats.judgements import JudgedRows, SpanRows, Wrong, first_span, judged_rows, refuse_first, spans_of

LAYOUT = Layout(
    {"topic": "text", "Q0": None, "document": "text", "relevant-characters": "int", "document-length": "int"}, least=5
)
_TOPIC, _DOCUMENT, _RELEVANT, _LENGTH, _BEP, _FIRST_PASSAGE = 0, 2, 3, 4, 5, 6
_PASSAGE = "^[0-9]{1,9}:[0-9]{1,9}$"
_NO_POINT = pa.array(["-1", "X", "x", None])


def read(sources: Sequence[Source]) -> Gold:
    """Return the judged documents of one or several files.

    All lines before the first that cannot be cut into columns are checked first, so that the first wrong line is named.
    """
    parts, error = [], None
    for source in sources:
        try:
            refuse_binary(source)
        except FormatError as refusal:
            error = refusal
            break
        part, problem = sound_lines(pa.py_buffer(source.data), LAYOUT, math.inf)
        parts.append(part)
        if problem is not None:
            error = FormatError(problem.what, at=source.at(problem.line), remedy=problem.remedy)
            break
    if not parts and error is not None:
        raise error
    width, line = (np.concatenate([getattr(part, name) for part in parts]) for name in ("width", "line"))
    fields = Fields(pa.concat_arrays([part.text for part in parts]), np.cumsum(width) - width, width, line)
    source_of_line = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.line) for part in parts])
    rows = judged_rows(sources, source_of_line, line, fields.column(_TOPIC), fields.column(_DOCUMENT))
    for source in sources:
        refuse_swapped(source, [pa.array(rows.topics, pa.string())])
    gold, differ = _judged(rows, fields)
    if error is not None:
        raise error
    return replace(gold, remarks=counted_kinds(other_sums=differ, united=gold.overlapping()))


def _judged(rows: JudgedRows, fields: Fields) -> tuple[Gold, int]:
    """Return the gold, and how many sums differ from their passages; raise at the first line that is wrong."""

    def numbers(place: int, name: str, given: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Wrong | None]:
        texts = fields.column(place)
        values, wrong = known_numbers(texts, given)
        return values, rows.check(wrong, lambda row: no_number(name, "int", texts[row].as_py()), "correct the line")

    pointed = np.asarray(pc.invert(pc.is_in(fields.column(_BEP), _NO_POINT)))
    rsize, no_rsize = numbers(_RELEVANT, "relevant characters", np.ones(len(rows), np.bool_))
    length, no_length = numbers(_LENGTH, "document length", np.ones(len(rows), np.bool_))
    bep, no_bep = numbers(_BEP, "best entry point", pointed)
    marks, bad_marks = _marks(rows, fields, length)
    marked = np.bincount(marks.row, minlength=len(rows)) > 0
    bad_sizes = rows.check(
        (rsize < 0) | (length < UNKNOWN),
        lambda row: f"expected sizes that are not negative, found {rsize[row]} and {length[row]}",
        "write the sizes in characters",
    )
    bad_bep = rows.check(
        pointed & ((bep < 0) | ((length >= 0) & (bep > length))),
        lambda row: f"expected a best entry point within 0 … {length[row]}, found {bep[row]}",
        "positions count characters of the text, markup excluded",
    )
    no_marks = rows.check(
        (rsize > 0) & ~marked,
        lambda row: f"expected offset:length of {rsize[row]} relevant characters, found none",
        "write the passages, or 0 relevant characters",
    )
    refuse_first(rows.twice(), no_rsize, no_length, bad_sizes, no_bep, bad_bep, bad_marks, no_marks)
    total = np.bincount(marks.row, marks.end - marks.start, len(rows))
    gold = rows.gold(marked, marks, {"length": length, "rsize": rsize, "bep": bep})
    return gold, int(np.count_nonzero(total != rsize))


def _marks(rows: JudgedRows, fields: Fields, length: NDArray[np.int64]) -> tuple[SpanRows, Wrong | None]:
    """Return the passages of all lines, and the first that is none."""
    place = np.arange(len(fields.text) // 2) - np.repeat(fields.first, fields.width)
    here = np.flatnonzero(place >= _FIRST_PASSAGE)
    row = np.repeat(np.arange(len(rows)), fields.width)[here]
    texts, limit = fields.take(here), length[row]
    sound = pc.match_substring_regex(texts, _PASSAGE)
    both = pc.split_pattern(pc.if_else(sound, texts, "0:0"), ":").flatten().cast(pa.int64()).to_numpy()
    start, end = both[::2], both[::2] + both[1::2]
    unsound = rows.check(
        ~np.asarray(sound),
        lambda mark: f"expected a passage as offset:length, found {texts[mark].as_py()!r}",
        "write both as numbers, such as 126:28761",
        row,
    )
    past = rows.check(
        (limit >= 0) & (end > limit),
        lambda mark: (
            f"expected a passage within the document's {limit[mark]} characters, "
            f"found {texts[mark].as_py()} ending at {end[mark]}"
        ),
        "offsets count characters of the text, markup excluded",
        row,
    )
    return SpanRows(row, start, end), first_span(unsound, past)


def write(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document."""
    topics = words("topic", gold.topics).to_pylist()
    documents = words("document", gold.documents).to_pylist()
    a, spans = gold.articles, spans_of(gold)
    columns = (column.tolist() for column in (a.topic, a.document, a.rsize, a.length, a.bep))
    for topic, document, rsize, length, bep in zip(*columns, strict=True):
        passages = [(one.start, one.end - one.start) for one in spans[topic, document]]
        relevant = rsize if rsize >= 0 else sum(size for _, size in passages)
        tail = [str(bep), *(f"{start}:{size}" for start, size in passages)] if passages or bep >= 0 else []
        yield " ".join([topics[topic], "Q0", documents[document], str(relevant), str(length), *tail]).encode() + b"\n"
