"""What the reader of the embedded example highlighted: quotes turned into spans of code points."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from focuseval.collection.index import Index

_ELISION = " … "


def find_quote(text: str, quote: str) -> tuple[int, int]:
    """Return the span of a quote that occurs once; ``first words … last words`` spans what lies between.

    >>> find_quote("The sea rises and falls.", "sea … and")
    (4, 17)
    """
    head, _, tail = quote.partition(_ELISION)
    start = _only(text, head)
    return start, (_only(text, tail) + len(tail)) if tail else start + len(head)


def _only(text: str, words: str) -> int:
    """Where `words` occurs, which must be exactly one place."""
    if text.count(words) != 1:
        raise FormatError(
            f"expected a quote that occurs once, found {text.count(words)} of {words!r}",
            remedy="quote more or other words",
        )
    return text.index(words)


def read_judgements(path: Path, index: Index, queries: Mapping[str, str]) -> Gold:
    """Return the gold of a file of quotes; `queries` are the topics' titles."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["topic"]
    ids = index.ids.to_pylist()
    judged: list[tuple[int, int, list[tuple[int, int]], int]] = []
    for code, topic in enumerate(listed):
        found = {article["id"]: _spans(index.text(ids.index(article["id"])), article) for article in topic["article"]}
        found |= dict.fromkeys(topic["not_relevant"], ([], UNKNOWN))
        judged += [(code, ids.index(name), spans, bep) for name, (spans, bep) in sorted(found.items())]
    topics = tuple(topic["id"] for topic in listed)
    return Gold(topics, index.ids, _articles(judged, index), _passages(judged, index), _NO_ELEMENTS, queries=queries)


def _spans(text: str, article: Mapping[str, Any]) -> tuple[list[tuple[int, int]], int]:
    """Highlights in text order, and the best entry point."""
    return sorted(find_quote(text, quote) for quote in article["highlights"]), find_quote(text, article["bep"])[0]


def _articles(judged: Sequence[tuple[int, int, list[tuple[int, int]], int]], index: Index) -> Articles:
    """One row for every judged article."""
    topic, document, spans, bep = zip(*judged, strict=True)
    rsize = np.array([sum(end - start for start, end in some) for some in spans], np.int64)
    rows = np.array(document, np.int32)
    return Articles(
        topic=np.array(topic, np.int32),
        document=rows,
        relevance=(rsize > 0).astype(np.int32),
        length=np.asarray(index.lengths)[rows].astype(np.int64),
        rsize=rsize,
        bep=np.array(bep, np.int64),
    )


def _passages(judged: Sequence[tuple[int, int, list[tuple[int, int]], int]], index: Index) -> Passages:
    """One row for every highlight, with the text that it covers."""
    rows = [(topic, row, start, end) for topic, row, spans, _ in judged for start, end in spans]
    topic, document, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    quotes = [index.text(row)[first:last] for _, row, first, last in rows]
    return Passages(
        topic=topic.astype(np.int32),
        document=document.astype(np.int32),
        start=start,
        end=end,
        size=end - start,
        quote=pa.array(quotes, pa.string()),
    )


_NO_ELEMENTS = GradedElements(
    topic=np.zeros(0, np.int32),
    document=np.zeros(0, np.int32),
    path=pa.array([], pa.string()),
    exhaustivity=np.zeros(0, np.int8),
    specificity=np.zeros(0, np.int8),
    size=np.zeros(0, np.int64),
    rsize=np.zeros(0, np.int64),
)
"""Highlights alone: elements follow from them and the index."""
