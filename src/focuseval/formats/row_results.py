"""A row of any file, frame or tool → the results that it holds, under our own names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from focuseval.data.fields import NAMES, layers, missing, short, value
from focuseval.errors import FormatError
from focuseval.formats.json_lines import FAR
from focuseval.formats.rows import as_list

if TYPE_CHECKING:
    from focuseval.errors import Place

PLACES = ("start", "text", "path")
_WORDS = ("path", "end_path", "run")


def results_of(row: Mapping[str, Any], at: Place) -> list[dict[str, Any]]:
    """Return the results of a row: itself, or those of the list that it holds for one question, best first.

    >>> from focuseval.errors import Place
    >>> results_of({"user_input": "Why?", "retrieved_contexts": ["So.", "Thus."]}, Place("ragas.jsonl", 1))[1]
    {'text': 'Thus.', 'topic': 'Why?', 'rank': 2}
    """
    listed = value(row, "results", at)
    question = listed is not None or bool(row.keys() & set(NAMES["results"]))
    topic = topic_of(row, at, question=question)
    if not question:
        result = result_of(row, at)
        if "doc" not in result and "text" not in result:
            raise missing("doc", row, at)
        return [{**result, "topic": topic}]
    items = [] if listed is None else as_list(listed, "results", at, row)
    return [{**_item(item, at), "topic": topic, "rank": rank} for rank, item in enumerate(items, 1)]


def topic_of(row: Mapping[str, Any], at: Place, *, question: bool) -> str:
    """Return a row's topic: its id, or, where a file gives its questions none, the question itself."""
    named = value(row, "topic", at, question=question)
    named = value(row, "query", at) if named is None else named
    if named is None:
        raise missing("topic", row, at, *NAMES["query"], question=question)
    return str(named)


def _item(item: Any, at: Place) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return {name: said for name, said in result_of(item, at).items() if name != "rank"}
    if not isinstance(item, str):
        raise FormatError(f"expected a text or an object as a result, found {short(item)}", at=at)
    return {"text": item}


def result_of(row: Mapping[str, Any], at: Place) -> dict[str, Any]:
    """Return what a row or an object says of one result; what it does not say is left out."""
    text = first_text(row, "text", at)
    start, end = span_of(row, at)
    if text is not None and start is not None and end is None:
        end = start + len(text)
    found = {
        "doc": document_of(row, at),
        "text": text,
        "start": start,
        "end": end,
        "rank": whole(value(row, "rank", at), "rank", at),
        "score": real(value(row, "score", at), "score", at),
        "chunk": _chunk(row, at),
        **{name: value(row, name, at) for name in _WORDS},
    }
    return {name: said for name, said in found.items() if said is not None}


def document_of(row: Mapping[str, Any], at: Place) -> str | None:
    """Return the id of the document that a row or its metadata names, None where neither does."""
    named = next((name for layer in layers(row) if (name := value(layer, "doc", at)) is not None), None)
    return None if named is None else str(named)


def span_of(row: Mapping[str, Any], at: Place) -> tuple[int | None, int | None]:
    """Return where a span begins and ends; a length stands for an end, and a negative start (LangChain) for none."""
    for layer in layers(row):
        start, end = (whole(value(layer, name, at), name, at) for name in ("start", "end"))
        if start is not None and start >= 0:
            length = whole(value(layer, "length", at), "length", at) if end is None else None
            return start, start + length if length is not None else end
    return None, None


def first_text(row: Mapping[str, Any], name: str, at: Place) -> str | None:
    """Return the first text under the names of a field; a chunk's number is none."""
    said = {other: row[other] for other in NAMES[name] if isinstance(row.get(other), str)}
    if isinstance(number := said.get("chunk"), str) and number.isdigit():
        del said["chunk"]
    found = value(said, name, at)
    return None if found is None else str(found)


def _chunk(row: Mapping[str, Any], at: Place) -> int | None:
    """Return a chunk's number; under that name there may also be its text."""
    numbered = {name: row[name] for name in NAMES["chunk"] if str(row.get(name)).isdigit()}
    return whole(value(numbered, "chunk", at), "chunk", at)


def whole(said: Any, name: str, at: Place) -> int | None:
    """Return a whole number, also of one that a table holds as text or as a float; None where there is none."""
    number = real(said, name, at)
    if number is None:
        return None
    if number != int(number) or abs(number) >= FAR:
        raise FormatError(f"expected a whole number as {name!r}, found {short(said)}", at=at)
    return int(said) if isinstance(said, int | str) and str(said).lstrip("-").isdigit() else int(number)


def real(said: Any, name: str, at: Place) -> float | None:
    """Return a finite number, None where there is none (NaN is what frames write for none)."""
    if said is None or said == "" or (isinstance(said, float) and math.isnan(said) and name != "score"):
        return None
    try:
        number = math.nan if isinstance(said, bool) else float(said)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise FormatError(f"expected a finite number as {name!r}, found {short(said)}", at=at)
    return number
