"""What a run or a gold says, counted, so that a format that cannot express it can be refused by name.

A facet of a run is a kind of place: ``document``, ``element``, ``range`` of elements, ``passage`` between XPointers,
``span``, entry ``point``, ``text`` of a chunk, ``unknown`` place; besides these ``chunk`` numbers and the ``header``
(task, participant, description …). A facet of a gold is a kind of judgement: ``coverage`` (2002), ``grades`` (2003–04),
``sizes`` of elements (2005–07), ``pointers``, ``spans``, ``quotes``, ``bep``, ``bep-path``, ``relevance`` of documents,
``needs`` that spans meet;
besides these ``lengths``, ``queries``, ``tags``, the embedded ``topic`` and other ``attributes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from focuseval.placing.pointers import is_pointer, strings

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.data.gold import Articles, Gold, GradedElements
    from focuseval.data.run import Run

WORDS = {
    "document": "whole documents",
    "element": "elements by path",
    "range": "ranges of elements",
    "passage": "passages between XPointers",
    "span": "spans by offset",
    "point": "entry points",
    "text": "texts without offsets",
    "unknown": "results at unknown places",
    "chunk": "chunk numbers",
    "header": "facts of the header (task, participant …)",
    "coverage": "graded elements (relevance and coverage)",
    "grades": "graded elements (exhaustiveness and specificity)",
    "sizes": "assessed elements with sizes",
    "differing": "assessed elements that are not what the highlights make them (sizes, exhaustivity)",
    "pointers": "passages between XPointers",
    "spans": "highlighted spans",
    "quotes": "quotes",
    "needs": "names of what spans are needed for",
    "bep": "best entry points by offset",
    "bep-path": "best entry points by path",
    "relevance": "grades of whole documents",
    "lengths": "document lengths",
    "queries": "queries",
    "tags": "tags of topics",
    "topic": "embedded topics",
    "attributes": "attributes of topics (pool, version …)",
}
"""Every facet, as a message names it."""

MINOR = frozenset({"header", "chunk", "quotes", "needs", "lengths", "queries", "tags", "topic", "attributes"})
"""What no score depends on, or (needs) only the measures made for it: left out with a remark where a format cannot
express it, never a reason to refuse."""


def run_facets(run: Run) -> dict[str, int]:
    """Count what a run says; a place that is said twice (a path and its span) counts as the more telling one."""
    kinds = places(run)
    counts = {kind: int(number) for kind, number in zip(*np.unique(kinds, return_counts=True), strict=True)}
    header = len(run.attributes) + bool(run.task) + bool(run.participant)
    chunks = 0 if run.chunk is None else int(np.count_nonzero(run.chunk >= 0))
    return counts | {name: number for name, number in (("header", header), ("chunk", chunks)) if number}


def places(run: Run) -> NDArray[np.str_]:
    """Return the kind of place of every result."""
    size = len(run)
    if run.path is None and run.start is None and run.text is None:
        return np.full(size, "document")
    start = np.full(size, -1) if run.start is None else run.start
    end = np.full(size, -1) if run.end is None else run.end
    path, last, text = (_valid(column, size) for column in (run.path, run.end_path, run.text))
    pointer = _pointer(run.path, size) | _pointer(run.end_path, size)
    cases = [path & pointer, path & last, path, (start >= 0) & (end >= 0), start >= 0, text]
    return np.select(cases, ["passage", "range", "element", "span", "point", "text"], "unknown")


def gold_facets(gold: Gold) -> dict[str, int]:
    """Count what a gold says."""
    a, p, e = gold.articles, gold.passages, gold.elements
    pointers = _valid(p.start_path, len(p.topic))
    bep_path = _valid(a.bep_path, len(a.topic))
    highlighted = np.isin(a.relevance, (0, 1)) if gold.scale != "trec" else np.zeros(len(a.topic), np.bool_)
    scale = gold.scale if gold.scale in {"coverage", "grades"} else "sizes"
    extra = [set(facts) for facts in gold.attributes.values()]
    counts = {
        scale: len(e.topic),
        "pointers": int(pointers.sum()),
        "spans": int((~pointers).sum()),
        "quotes": int(_valid(p.quote, len(p.topic)).sum()),
        "needs": int(_valid(p.need, len(p.topic)).sum()),
        "bep": int(((a.bep >= 0) & ~bep_path).sum()),
        "bep-path": int(bep_path.sum()),
        "relevance": int((~highlighted).sum()),
        "lengths": int(((a.length >= 0) & ~np.isin(_pair(a), _pair(e))).sum()),
        "queries": 0 if any("inex_topic" in facts for facts in extra) else len(gold.queries),
        "topic": sum("inex_topic" in facts for facts in extra),
        "tags": sum("tags" in facts for facts in extra),
        "attributes": sum(bool(facts - {"inex_topic", "tags"}) for facts in extra),
    }
    return {facet: count for facet, count in counts.items() if count}


def _pair(table: Articles | GradedElements) -> NDArray[np.int64]:
    """Return topic and document as one number; a document with assessed elements has its length among them."""
    return np.asarray(table.topic.astype(np.int64) << 32 | table.document, np.int64)


def named(facets: dict[str, int]) -> str:
    """Return facets as a message names them.

    >>> named({"element": 12, "header": 2})
    '12 elements by path, 2 facts of the header (task, participant …)'
    """
    return ", ".join(f"{count} {WORDS[facet]}" for facet, count in facets.items())


def _valid(column: pa.Array | None, size: int) -> NDArray[np.bool_]:
    return np.zeros(size, np.bool_) if column is None else np.asarray(pc.is_valid(column))


def _pointer(column: pa.Array | None, size: int) -> NDArray[np.bool_]:
    return np.zeros(size, np.bool_) if column is None else is_pointer(strings(column))
