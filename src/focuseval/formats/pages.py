"""Results and gold by page and box: what RAG tools that read PDFs say, and what is written with ``--to pages``.

::

    {"topic": "q1", "doc": "a.pdf", "rank": 1, "page_number": 3}
    {"topic": "q1", "doc": "a.pdf", "rank": 2, "page": 3, "bbox": [72, 90.5, 300, 118]}
    {"topic": "q1", "doc": "a.pdf", "spans": [{"page": 3, "bbox": {"l": 72, "t": 700, "r": 300, "b": 680,
      "coord_origin": "BOTTOMLEFT"}}, {"page": 4, "quote": "…"}]}

These are rows as in run-rows and gold-rows, with ``--docs`` or ``--index`` for the PDFs. Page and box are found in a
row, in its ``metadata`` or ``meta``, and where docling (``doc_items`` with their ``prov``) and unstructured
(``coordinates``) put them:

====================  ================================================================================================
page                  ``page_number page_no page_num``, counted from 1; ``page``, counted from 0 where one of the file
                      is 0, or where ``page_label`` says so
bbox                  ``bbox box bounding_box``, or a list of them, each maybe with its page: ``boxes bboxes``; four
                      numbers, four points, or an object with ``l t r b``, ``x0 y0 x1 y1``, ``left top right bottom``,
                      ``x y width height``
origin                ``coord_origin origin``: ``TOPLEFT`` (``top``) or ``BOTTOMLEFT`` (``bottom``); where nothing says
                      it, the one in which the file's boxes hold text (the one beside them); else it is asked for
unit                  shares of the page where no number is above 1, else points; pixels with ``page_width
                      page_height`` (unstructured: ``layout_width layout_height``)
====================  ================================================================================================

A box holds the characters whose middle lies in it; they count, and a text beside it does not. A result in several
pieces reaches from the first to the last; a highlight has several spans. A page with a text or a quote is where to look
for it. What is empty is counted. Written are boxes of lines, in points from the top, with the page and the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from focuseval.collection.index import Collection
from focuseval.collection.pages import Pages
from focuseval.data.fields import json_line
from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats import gold_jsonl, gold_rows, run_rows

read_run, read_gold = run_rows.read, gold_rows.read
_NEEDED = "to write {} by page and box the PDFs are needed: give docs= or index="


def _boxes(pages: Pages, start: int, end: int) -> list[dict[str, Any]]:
    numbers, boxes = pages.boxes(start, end)
    sides = ("l", "t", "r", "b")
    return [
        {"page": page, "bbox": dict(zip(sides, np.round(box, 2).tolist(), strict=True)) | {"coord_origin": "TOPLEFT"}}
        for page, box in zip(numbers.tolist(), boxes, strict=True)
    ]


def write_run(run: Run, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield a line for every result: its page, and the boxes of its lines."""
    if documents is None:
        raise MissingDataError(_NEEDED.format("a run"))
    rows = documents.find(run.document)
    known = {int(row): documents.pages(int(row)) for row in np.unique(rows[rows >= 0])}
    names = run.document.to_pylist()
    start, end = (np.zeros(0) if column is None else column for column in (run.start, run.end))
    for place, (name, row) in enumerate(zip(names, rows.tolist(), strict=True)):
        pages = known.get(row)
        if pages is None:
            what = f"expected results in PDFs, found one in {name!r}"
            raise FormatError(what, at=run.at(place), remedy="convert the others apart")
        low, high = int(start[place]), int(end[place])
        line: dict[str, Any] = {"topic": run.topic_of(place), "doc": name, "page": int(pages.of(low))}
        line |= {key: column[place].item() for key in ("rank", "score") if (column := getattr(run, key)) is not None}
        line |= {"boxes": _boxes(pages, low, high), "run": run.run_id}
        yield json_line(line)


def write_gold(gold: Gold, documents: Collection | None = None) -> Iterator[bytes]:
    """Yield our lines with pages and boxes in the place of offsets."""
    if documents is None:
        raise MissingDataError(_NEEDED.format("a gold"))
    for raw in gold_jsonl.write(gold):
        line = json.loads(raw)
        row = int(documents.find([line["doc"]])[0]) if "doc" in line else -1
        pages = documents.pages(row) if row >= 0 else None
        for span in line.get("spans", ()):
            if pages is None:
                what = f"expected highlights in PDFs, found some in {line['doc']!r}"
                raise FormatError(what, at=gold.file or None, remedy="convert the others apart")
            start, end = span.pop("start"), span.pop("end")
            span |= {"page": int(pages.of(start)), "boxes": _boxes(pages, start, end)}
            span.setdefault("quote", documents.text(row)[start:end])
        yield json_line(line)
