"""Judgements gathered row by row, from one file or a folder of them, into one `Gold`.

A (topic, document) pair is judged once; a second judgement is refused with both places, even when the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.errors import FormatError
from focuseval.formats.ranking import rows_of
from focuseval.formats.source import joint_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from focuseval.errors import Place
    from focuseval.formats.source import Source

ARTICLE = ("topic", "document", "relevance", "length", "rsize", "bep", "bep_path", "line", "source")
PASSAGE = ("topic", "document", "start", "end", "size", "start_path", "end_path", "quote", "need", "line")
ELEMENT = ("topic", "document", "path", "exhaustivity", "specificity", "size", "rsize", "inferred", "inpool")
_TYPES = {
    "topic": np.int32, "document": np.int32, "source": np.int32, "relevance": np.int32,
    "exhaustivity": np.int8, "specificity": np.int8,
}  # fmt: skip
_STRINGS = frozenset({"bep_path", "start_path", "end_path", "quote", "need", "path"})
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
