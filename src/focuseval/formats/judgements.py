"""Judgements gathered row by row, from one file or a folder of them, into one `Gold`.

A (topic, document) pair is judged once; a second judgement is refused with both places, even when the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError
from focuseval.formats.ranking import rows_of
from focuseval.formats.source import joint_digest
from focuseval.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.keys import indices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.errors import Place
    from focuseval.formats.source import Source

ARTICLE = ("topic", "document", "relevance", "length", "rsize", "bep", "bep_path", "line", "source")
PASSAGE = ("topic", "document", "start", "end", "size", "start_path", "end_path", "quote", "line")
ELEMENT = ("topic", "document", "path", "exhaustivity", "specificity", "size", "rsize", "inferred", "inpool")
_TYPES = {
    "topic": np.int32, "document": np.int32, "source": np.int32, "relevance": np.int32,
    "exhaustivity": np.int8, "specificity": np.int8,
}  # fmt: skip
_STRINGS = frozenset({"bep_path", "start_path", "end_path", "quote", "path"})
_FLAGS = frozenset({"inferred", "inpool"})


@dataclass
class Judgements:
    """Rows as they are read; `gold` turns them into columns."""

    articles: list[tuple[Any, ...]] = field(default_factory=list)
    passages: list[tuple[Any, ...]] = field(default_factory=list)
    elements: list[tuple[Any, ...]] = field(default_factory=list)
    topics: dict[str, int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    places: dict[tuple[int, int], Place] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)

    def topic(self, name: str) -> int:
        """Return a topic's code, new or known."""
        return self.topics.setdefault(name, len(self.topics))

    def judge(self, topic: str, document: str, place: Place) -> tuple[int, int]:
        """Note that a pair is judged here and return its codes; raise if it was judged before."""
        pair = self.topic(topic), self.documents.setdefault(document, len(self.documents))
        first = self.places.setdefault(pair, place)
        if first is not place:
            raise judged_twice(document, topic, first, place)
        return pair

    def gold(self, sources: Sequence[Source], scale: str, remarks: tuple[str, ...] = ()) -> Gold:
        """Return everything that was gathered, grouped by topic."""
        return Gold(
            tuple(self.topics),
            pa.array(list(self.documents), pa.string()),
            Articles(**_columns(ARTICLE, self.articles)),
            Passages(**_columns(PASSAGE, self.passages)),
            GradedElements(**_columns(ELEMENT, self.elements)),
            scale=scale,
            queries=self.queries,
            attributes=self.attributes,
            remarks=remarks,
            **origin(sources),
        )


Check = tuple["NDArray[np.bool_]", "Callable[[int], FormatError]"]
"""Which rows are wrong, and what to say of one."""


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Judgements as columns, in the order of the files: a row for every judged document."""

    sources: Sequence[Source]
    source: NDArray[np.int32]
    line: NDArray[np.int64]
    topic: pa.DictionaryArray
    document: pa.DictionaryArray

    def __len__(self) -> int:
        """Return the number of judgements."""
        return len(self.line)

    def at(self, row: int) -> Place:
        """Return where a judgement stands."""
        return self.sources[int(self.source[row])].at(int(self.line[row]))

    def check(self, wrong: NDArray[np.bool_], what: Callable[[int], str], remedy: str | None = None) -> Check:
        """Return a check of rows: which are wrong, and what to say of one."""
        return wrong, lambda row: FormatError(what(row), at=self.at(row), remedy=remedy)

    def twice(self) -> Check:
        """Find pairs that were judged before."""
        pair = self.topic.indices.to_numpy().astype(np.int64) << 32 | self.document.indices.to_numpy()
        before, ordered = np.arange(len(self)), np.sort(pair)
        if (ordered[1:] == ordered[:-1]).any():
            _, first, number = np.unique(pair, return_index=True, return_inverse=True)
            before = first[number]

        def say(row: int) -> FormatError:
            names = self.document[row].as_py(), self.topic[row].as_py()
            return judged_twice(*names, self.at(int(before[row])), self.at(row))

        return before < np.arange(len(self)), say

    def gold(
        self, relevance: NDArray[Any], articles: Mapping[str, NDArray[np.int64]], marks: Marks, **said: Any
    ) -> Gold:
        """Return the gold with these columns of judged documents and these spans, in blocks of topics."""
        topic, document = (column.indices.to_numpy().astype(np.int32) for column in (self.topic, self.document))
        order, inner = (np.argsort(codes, kind="stable") for codes in (topic, topic[marks.row]))
        row, start, end = marks.row[inner], marks.start[inner], marks.end[inner]
        grade = relevance[order].astype(np.int32)
        sizes = {name: column[order] for name, column in articles.items()}
        quote = None if marks.quote is None else marks.quote.take(indices(inner))
        return Gold(
            tuple(self.topic.dictionary.to_pylist()),
            self.document.dictionary,
            Articles(topic[order], document[order], grade, **sizes, line=self.line[order], source=self.source[order]),
            Passages(
                topic[row],
                document[row],
                start,
                end,
                np.where(end >= 0, end - start, UNKNOWN),
                quote=None if quote is None or quote.null_count == len(quote) else quote,
                line=self.line[row] if len(row) else None,
            ),
            empty_elements(),
            **said,
            **origin(self.sources),
        )


class Marks(NamedTuple):
    """Highlighted spans: the row of the judgement that each belongs to, its ends, and maybe its quote."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    quote: pa.Array | None = None


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


def judged_twice(document: str, topic: str, first: Place, second: Place) -> FormatError:
    """Return the refusal of a second judgement."""
    return FormatError(
        f"expected one judgement of document {document!r} for topic {topic!r}, found another at {first}",
        at=second,
        remedy="keep one of the two",
    )


def origin(sources: Sequence[Source]) -> dict[str, Any]:
    """Return what a gold says of the files that it was read from."""
    several = len(sources) > 1
    return {
        "sha256": joint_digest(sources),
        "file": sources[0].name if len(sources) == 1 else "",
        "sources": tuple(source.name for source in sources) if several else (),
    }


def empty_elements() -> GradedElements:
    """Return a table of no assessed elements."""
    return GradedElements(**_columns(ELEMENT, []))


def empty_passages() -> Passages:
    """Return a table of no passages."""
    return Passages(**_columns(PASSAGE, []))


def only_topic(gold: Gold, code: int) -> Gold:
    """Return the part of a gold that one topic's file holds."""
    tables = {}
    for name in ("articles", "passages", "elements"):
        table = getattr(gold, name)
        rows = np.flatnonzero(table.topic == code)
        columns = {f.name: rows_of(getattr(table, f.name), rows) for f in fields(table)}
        tables[name] = replace(table, **{**columns, "topic": np.zeros(len(rows), np.int32)})
    return replace(gold, topics=(gold.topics[code],), **tables)


def file_name(topic: str) -> str:
    """Return a topic's name as a file name that is safe everywhere.

    >>> file_name("2009/1")
    '2009%2F1'
    """
    return "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):02X}" for c in topic)


def _columns(names: Sequence[str], rows: list[tuple[Any, ...]]) -> Mapping[str, Any]:
    """Turn rows into columns, in blocks of topics."""
    rows.sort(key=_by_topic)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return {name: _column(name, values) for name, values in columns.items()}


def _by_topic(row: tuple[Any, ...]) -> int:
    code: int = row[0]
    return code


def _column(name: str, values: tuple[Any, ...]) -> Any:
    """Return an array of the column's type; what no row says is None where the table allows it."""
    if name == "path":
        return pa.array(values, pa.string()).dictionary_encode()
    said = values.count(None) < len(values)
    if name in _STRINGS:
        return pa.array(values, pa.string()) if said else None
    if name in _FLAGS:
        return np.array([bool(value) for value in values], np.bool_) if said else None
    if name in {"line", "source"} and not said:
        return None
    filled = [UNKNOWN if value is None else value for value in values] if None in values else values
    return np.array(filled, _TYPES.get(name, np.int64))
