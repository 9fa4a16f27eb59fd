"""Judgements as columns, from one file or several: checked as arrays, and turned into a `Gold`.

For formats whose golds are large. A check says of all rows at once which are wrong; the first wrong line is named, as
if the lines had been read one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.data.gold import UNKNOWN, Articles, Gold, Passages
from focuseval.engine.keys import indices
from focuseval.errors import FormatError
from focuseval.formats.judgements import empty_elements, judged_twice, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.errors import Place
    from focuseval.formats.source import Source

Check = tuple["NDArray[np.bool_]", "Callable[[int], FormatError]"]
"""Which rows are wrong, and what to say of one."""


def encoded(names: pa.Array) -> tuple[NDArray[np.int32], pa.Array]:
    """Return a code for every name, and the distinct names in order of first appearance."""
    codes = names.dictionary_encode()
    return codes.indices.to_numpy(), codes.dictionary


class SpanRows(NamedTuple):
    """Highlighted spans: the row of the judgement that each belongs to, its ends, maybe its quote and what it shows."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    quote: pa.Array | None = None
    need: pa.Array | None = None


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Judgements as columns, in the order of the files: a row for every judged document."""

    sources: Sequence[Source]
    source: NDArray[np.int32]
    line: NDArray[np.int64]
    topic: NDArray[np.int32]
    """Codes into `topics`."""
    topics: tuple[str, ...]
    document: NDArray[np.int32]
    """Codes into `documents`."""
    documents: pa.Array

    def __len__(self) -> int:
        """Return the number of judgements."""
        return len(self.line)

    def names(self, row: int) -> tuple[str, str]:
        """Return which document was judged, and for which topic."""
        return self.documents[int(self.document[row])].as_py(), self.topics[self.topic[row]]

    def at(self, row: int) -> Place:
        """Return where a judgement stands."""
        return self.sources[int(self.source[row])].at(int(self.line[row]))

    def check(
        self, wrong: NDArray[np.bool_], what: Callable[[int], str], remedy: str, row: NDArray[np.int64] | None = None
    ) -> Check:
        """Return a check of rows, or of spans that belong to rows: which are wrong, and what to say of one."""

        def say(number: int) -> FormatError:
            at = self.at(number if row is None else int(row[number]))
            return FormatError(what(number), at=at, remedy=remedy)

        return wrong, say

    def twice(self) -> Check:
        """Find pairs that were judged before."""
        pair = self.topic.astype(np.int64) << 32 | self.document
        before, ordered = np.arange(len(self)), np.sort(pair)
        if (ordered[1:] == ordered[:-1]).any():
            _, first, number = np.unique(pair, return_index=True, return_inverse=True)
            before = first[number]

        def say(row: int) -> FormatError:
            return judged_twice(*self.names(row), self.at(int(before[row])), self.at(row))

        return before < np.arange(len(self)), say

    def gold(
        self, relevance: NDArray[Any], articles: Mapping[str, NDArray[np.int64]], marks: SpanRows, **said: Any
    ) -> Gold:
        """Return the gold with these columns of judged documents and these spans, in blocks of topics."""
        topic, document = self.topic, self.document
        order, inner = (_in_blocks(codes) for codes in (topic, topic[marks.row]))
        row, start, end = marks.row[inner], marks.start[inner], marks.end[inner]
        grade = relevance[order].astype(np.int32)
        sizes = {name: column[order] for name, column in articles.items()}
        source = self.source[order] if len(self.sources) > 1 else None
        quote, need = (_said(column, inner) for column in (marks.quote, marks.need))
        return Gold(
            self.topics,
            self.documents,
            Articles(topic[order], document[order], grade, **sizes, line=self.line[order], source=source),
            Passages(
                topic[row],
                document[row],
                start,
                end,
                np.where(end >= 0, end - start, UNKNOWN),
                quote=quote,
                need=need,
                line=self.line[row] if len(row) else None,
            ),
            empty_elements(),
            **said,
            **origin(self.sources),
        )


def no_marks() -> SpanRows:
    """Return the spans of a gold that has none."""
    nothing = np.zeros(0, np.int64)
    return SpanRows(nothing, nothing, nothing)


def _in_blocks(topic: NDArray[np.int32]) -> NDArray[np.int64] | slice:
    """Return rows in blocks of topics: mostly as they stand, and then nothing is copied."""
    return np.argsort(topic, kind="stable") if (topic[1:] < topic[:-1]).any() else slice(None)


def _said(column: pa.Array | None, rows: NDArray[np.int64] | slice) -> pa.Array | None:
    """Return a column in blocks of topics; None where no row says anything."""
    if column is None or column.null_count == len(column):
        return None
    return column if isinstance(rows, slice) else column.take(indices(rows))


def refuse_first(*checks: Check | None) -> None:
    """Raise what the first check to find it says of the first row that any check finds wrong."""
    found = _first_wrong(*checks)
    if found is not None:
        row, say = found
        raise say(row)


def by_row(row: NDArray[np.int64], rows: int, *checks: Check) -> Check | None:
    """Return checks of spans as one check of the rows that they belong to; None where no span is wrong."""
    found = _first_wrong(*checks)
    if found is None:
        return None
    mark, say = found
    return np.arange(rows) == row[mark], lambda _: say(mark)


def _first_wrong(*checks: Check | None) -> tuple[int, Callable[[int], FormatError]] | None:
    found = [(int(np.argmax(check[0])), check[1]) for check in checks if check is not None and check[0].any()]
    return min(found, key=lambda one: one[0], default=None)
