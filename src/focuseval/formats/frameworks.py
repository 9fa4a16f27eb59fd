"""Results of LangChain, LlamaIndex and Haystack as runs, by what their objects look like; none is imported.

::

    LangChain    Document          page_content, metadata["source"], metadata["start_index"] (−1: unknown)
    LlamaIndex   NodeWithScore     score, node.start_char_idx, node.end_char_idx, node.ref_doc_id; or a bare node
    Haystack     Document          content, score, meta["source_id"], meta["split_idx_start"], meta["split_id"]
    anything     dictionaries      doc, text, start, end, score, chunk, by any of their names (`focuseval.data.fields`)
    anything     texts             looked for in all documents
    any of them  (object, score)   as ``similarity_search_with_score`` returns them

What a splitter says about offsets is a claim: aligned with the documents (`focuseval.align_run`,
`align_chunks`) it is verified against the text, and repaired or refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.data.fields import KNOWN, SOURCES, layers
from focuseval.data.gold import UNKNOWN
from focuseval.data.run import Run
from focuseval.errors import FormatError, Place
from focuseval.formats.rows import result_of


class RetrievedChunks(NamedTuple):
    """What a framework's object says of one chunk."""

    document: str
    text: str
    start: int = UNKNOWN
    end: int = UNKNOWN
    chunk: int = UNKNOWN
    score: float | None = None


class SplitChunks(NamedTuple):
    """A splitter's output as columns: what `focuseval.align_chunks` takes."""

    document: list[str]
    text: list[str]
    start: list[int]
    end: list[int]
    order: list[int]


def run_from_results(
    results: Mapping[str, Iterable[object]], *, run_id: str = "run", doc_key: str | None = None
) -> Run:
    """Return what a retriever returned for each topic, best first, as a run of texts with claimed spans.

    `doc_key` names the metadata that holds the document's id, where it is none of the usual ones. With ``""`` a result
    may come without one: once the run is placed in a collection its text is looked for in all documents.

    >>> run = run_from_results({"q1": [{"doc": "a", "text": "some words", "score": 0.4}]})
    >>> run.document.to_pylist(), run.text.to_pylist(), run.start.tolist()
    (['a'], ['some words'], [-1])
    """
    topics = tuple(results)
    items, codes, ranks = list[RetrievedChunks](), list[int](), list[int]()
    for code, topic in enumerate(topics):
        for rank, item in enumerate(results[topic], 1):  # a bare text has an empty id until its document is found
            at = Place(f"<results of {topic!r}>", rank)
            items.append(RetrievedChunks("", item) if isinstance(item, str) else retrieved(item, doc_key, at))
            codes.append(code)
            ranks.append(rank)
    scores = [item.score for item in items]
    columns: dict[str, Any] = {"topic": np.array(codes, np.int32), "rank": np.array(ranks, np.int32)}
    columns |= {name: pa.array([getattr(one, name) for one in items], pa.string()) for name in ("document", "text")}
    columns |= {name: np.array([getattr(one, name) for one in items], np.int64) for name in ("start", "end", "chunk")}
    score = None if None in scores else np.array(scores, np.float64)
    return Run(run_id, topics, **columns, score=score, file="<results>")


def is_results(value: object) -> bool:
    """Say whether a value is a retriever's output, topic by topic, and not a frame of columns.

    >>> is_results({"q1": [{"doc": "a"}]}), is_results({"q1": ["a text"]}), is_results({"topic": ["q1"], "doc": ["a"]})
    (True, True, False)
    """
    if not isinstance(value, Mapping) or not all(isinstance(items, list | tuple) for items in value.values()):
        return False
    items = [item for some in value.values() for item in some]
    objects = all(not isinstance(item, str | int | float | None) for item in items)
    return bool(value) and (objects or (not value.keys() & KNOWN and all(isinstance(item, str) for item in items)))


def chunks_from(items: Iterable[object], *, doc_key: str | None = None) -> SplitChunks:
    """Return a splitter's chunks as columns; chunks of one document are numbered as they come.

    >>> chunks_from([{"doc": "a", "text": "x"}, {"doc": "b", "text": "y"}, {"doc": "a", "text": "z"}]).order
    [0, 0, 1]
    """
    found = [retrieved(item, doc_key, Place("<chunks>", number)) for number, item in enumerate(items, 1)]
    seen, order = Counter[str](), list[int]()
    for item in found:
        order.append(seen[item.document])
        seen[item.document] += 1
    names = ("document", "text", "start", "end")
    return SplitChunks(order=order, **{name: [getattr(item, name) for item in found] for name in names})


def retrieved(item: Any, doc_key: str | None, at: Place) -> RetrievedChunks:
    """Return what one object says, whichever framework it is from; an offset that is no number is unknown."""
    if isinstance(item, tuple) and len(item) == 2 and not hasattr(item, "_fields"):
        return retrieved(item[0], doc_key, at)._replace(score=float(item[1]))
    if isinstance(item, Mapping):
        found = result_of(item, at)
        keys = (doc_key,) if doc_key else SOURCES
        named = next((layer for layer in layers(item) if any(layer.get(key) for key in keys)), item)
        start, end, chunk = (found.get(name, UNKNOWN) for name in ("start", "end", "chunk"))
        document = _source(named, doc_key, at)
        return RetrievedChunks(document, found.get("text", ""), start, end, chunk, found.get("score"))
    node = getattr(item, "node", item)  # of LlamaIndex, which has the score around it
    metadata = getattr(node, "metadata", None) or getattr(node, "meta", None) or {}
    if hasattr(node, "page_content"):  # LangChain
        text, claims, own = node.page_content, (metadata.get("start_index"), None, None), None
    elif hasattr(node, "ref_doc_id") or hasattr(node, "start_char_idx"):  # LlamaIndex
        text, own = getattr(node, "text", None), getattr(node, "ref_doc_id", None)
        text = node.get_content() if text is None else text
        claims = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None), None
    elif hasattr(node, "content") and hasattr(node, "meta"):  # Haystack
        text, claims = node.content or "", (metadata.get("split_idx_start"), None, metadata.get("split_id"))
        own = metadata.get("source_id")
    else:
        what = "expected a LangChain, LlamaIndex or Haystack object or a dictionary"
        raise FormatError(f"{what}, found {type(item).__name__}", at=at)
    start, end, chunk = (one if isinstance(one, int) and one >= 0 else UNKNOWN for one in claims)
    end = start + len(text) if end < 0 <= start else end
    document = str(own) if own and not doc_key else _source(metadata, doc_key, at)
    return RetrievedChunks(document, text, start, end, chunk, getattr(item, "score", None))


def _source(metadata: Mapping[str, Any], doc_key: str | None, at: Place) -> str:
    """Return the document's id."""
    for key in (doc_key,) if doc_key else SOURCES:
        if metadata.get(key) not in {None, ""}:
            return str(metadata[key])
    if doc_key == "":
        return ""
    found = ", ".join(map(str, metadata)) or "nothing"
    what = f"expected the document's id under {doc_key or ' or '.join(SOURCES)}, found {found}"
    raise FormatError(what, at=at, remedy="say which metadata holds it with doc_key=")
