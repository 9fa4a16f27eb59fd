r"""KILT: provenance by paragraph and character of a Wikipedia page, one JSON object a line.

::

    {"id": "q1", "input": "who …?", "output": [{"answer": "…", "provenance": [{"wikipedia_id": "12",
        "start_paragraph_id": 1, "start_character": 0, "end_paragraph_id": 1, "end_character": 214}]}]}

The knowledge source has pages ``{"wikipedia_id", "wikipedia_title", "text": [paragraph, …]}``. As a document a page
is one line per paragraph: line breaks inside a paragraph become blanks and it ends with exactly one, so that
paragraph n is line n and characters count within it: ``--docs`` takes the knowledge source. A provenance without
characters is the whole paragraph, without paragraph the whole page, and −1 says that there is none; the gold's remarks
count these. Ends are exclusive. Ids and numbers may be written as texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from focuseval.collection.boundaries import code_points
from focuseval.collection.index import Collection
from focuseval.data.remarks import Remark, counted_kinds
from focuseval.errors import FormatError, Place
from focuseval.formats.columns import number
from focuseval.formats.content import Source
from focuseval.formats.json_records import json_items
from focuseval.formats.judgements import Question, Span, gold_reader, text_of
from focuseval.formats.rows import field


@gold_reader
def read(sources: Sequence[Source], documents: Collection | None = None) -> Iterator[Question | Remark]:
    """Return the provenance of all outputs, in code points of the pages."""
    whole = 0
    for source in sources:
        for line, record, _ in json_items(source):
            at, topic = source.at(line), str(record.get("id") or line)
            query = field(record, "input", str, at) if "input" in record else ""
            spans = dict[Span, None]()
            outputs = [one for one in field(record, "output", list, at) if isinstance(one, dict)]
            for entry in (entry for output in outputs for entry in output.get("provenance") or ()):
                if not isinstance(entry, dict):
                    raise FormatError(f"expected a provenance object, found {str(entry)[:60]!r}", at=at)
                page = str(entry.get("wikipedia_id") or field(entry, "wikipedia_id", str, at, f"topic {topic!r}"))
                spans[_span(entry, page, text_of(documents, page, topic, at), topic, at)] = None
                whole += _number(entry, "start_character", topic, at) is None
            yield Question(query, list(spans), at, topic)
    yield from counted_kinds(no_characters=whole)


def embedded_texts(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of every page of a knowledge source."""
    for source in sources:
        for line, page, _ in json_items(source):
            at = source.at(line)
            paragraphs = field(page, "text", list, at)
            name = str(page.get("wikipedia_id") or field(page, "wikipedia_id", str, at))
            lines = (str(paragraph).rstrip("\r\n").replace("\r", " ").replace("\n", " ") for paragraph in paragraphs)
            yield name, "".join(f"{line}\n" for line in lines)


def _number(entry: dict[str, Any], name: str, topic: str, at: Place) -> int | None:
    """Return a number of a provenance; None where it is left out, or −1."""
    value = entry.get(name)
    if isinstance(value, str) and (said := number(value.strip(), "int")) is not None:
        value = said
    if value is None or value == -1:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        what = f"expected a whole number as {name!r} for topic {topic!r}, found {value!r}"
        raise FormatError(what, at=at, remedy="-1, or nothing, says that there is none")
    return value


def _span(entry: dict[str, Any], page: str, text: str, topic: str, at: Place) -> Span:
    """Return a provenance as a span of its page."""
    first, last = (_number(entry, name, topic, at) for name in ("start_paragraph_id", "end_paragraph_id"))
    if first is None:
        return Span(page, 0, len(text))
    last = first if last is None else last
    breaks = np.flatnonzero(code_points(text) == ord("\n"))
    begins = np.r_[0, breaks + 1]
    if not first <= last < len(breaks):
        what = f"expected paragraphs within 0 … {len(breaks) - 1} of page {page!r} for topic {topic!r}"
        remedy = "the page must have one line per paragraph"
        raise FormatError(f"{what}, found {first} and {last}", at=at, remedy=remedy)
    start, end = (_number(entry, name, topic, at) for name in ("start_character", "end_character"))
    low, most = int(begins[first]) + (start or 0), int(breaks[last])
    high = most if end is None or start is None else int(begins[last]) + end
    if high > most + 1:
        size, where = most - int(begins[last]), f"paragraph {last} of page {page!r} for topic {topic!r}"
        what = f"expected an end within the {size} characters of {where}, found {end}"
        raise FormatError(what, at=at, remedy="is it the page of the same knowledge source?")
    return Span(page, low, high)
