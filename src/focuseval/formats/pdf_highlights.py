r"""Highlight annotations in PDFs: what people mark in a viewer is gold, and a gold can be looked at in one.

``convert gold.jsonl marked/ --to pdf --docs reports/`` writes a copy of every PDF in which something is highlighted,
with a highlight annotation for each span: its note has the topic on the first line and the question below. The text
under an annotation is that of the characters whose middle lies in one of its boxes.

::

    /Type /Annot /Subtype /Highlight /QuadPoints [72 700 180 700 72 688 180 688] /Contents (q1\nHow long is it?)

A PDF, or a folder of PDFs, is read as gold (``--docs`` gives the documents): the first line of an annotation's note is
the topic, what follows the question. Where not one annotation has a note, all belong to topic 1; where some have, those
without are left out, and counted. A PDF without highlights judges nothing. Annotations of other kinds are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from focuseval.collection.index import Collection
from focuseval.collection.pdfium import Highlight, read_highlights, write_highlights
from focuseval.data.gold import Gold
from focuseval.data.remarks import counted_kinds
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats.content import Source
from focuseval.formats.gold_rows import JudgedSpan, gold_of
from focuseval.placing.pointers import PageBox, covered_spans

AUTHOR = "focuseval"


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the highlights of one or several PDFs."""
    if documents is None:
        raise MissingDataError(f"{sources[0].name}: highlights in PDFs need the documents: give docs= or index=")
    judged, nameless, empty = list[JudgedSpan](), 0, 0
    marks = [(source, mark) for source in sources for mark in read_highlights(bytes(source.data), source.name)]
    if not marks:
        what = "expected highlight annotations, found none"
        raise FormatError(what, at=sources[0].name, remedy="save the PDF in the viewer, with its annotations")
    noted = any(mark.note.strip() for _, mark in marks)
    for source, mark in marks:
        topic, _, query = mark.note.replace("\r", "\n").strip().partition("\n")
        if noted and not topic:
            nameless += 1
            continue
        parts = PurePosixPath(source.name).parts  # as many of them as fit: it is a copy of that document
        rows = (int(documents.find(["/".join(parts[first:])])[0]) for first in range(len(parts)))
        row = next((row for row in rows if row >= 0), -1)
        pages = documents.pages(row) if row >= 0 else None
        if pages is None:
            what = "expected a copy of a PDF of the collection, found no document of its name"
            raise FormatError(what, at=source.name, remedy="name it as the document is named")
        spans = covered_spans(pages, [PageBox(mark.page, box, "top", pages.size(mark.page)) for box in mark.boxes])
        empty += not spans
        base = JudgedSpan(topic.strip() or "1", source.at(), query.strip(), documents.ids[row].as_py())
        judged += [base._replace(start=start, end=end) for start, end in spans]
    gold = gold_of(judged, documents, sources)
    return replace(gold, remarks=(*gold.remarks, *counted_kinds(no_topic=nameless, empty_boxes=empty)))


def write(gold: Gold, documents: Collection | None = None) -> dict[str, list[bytes]]:
    """Return copies of all PDFs in which something is highlighted, by the names of their files."""
    if documents is None:
        raise MissingDataError("to write highlights into PDFs these are needed: give docs= or index=")
    p = gold.passages
    files: dict[str, list[bytes]] = {}
    for code in np.unique(p.document).tolist():
        name = gold.documents[code].as_py()
        row = int(documents.find([name])[0])
        pages = documents.pages(row) if row >= 0 else None
        if pages is None:
            what = f"expected highlights in PDFs, found some in {name!r}"
            raise FormatError(what, at=gold.file or None, remedy="convert the others apart")
        marks = list[Highlight]()
        for place in np.flatnonzero(p.document == code).tolist():
            topic = gold.topics[int(p.topic[place])]
            note = f"{topic}\n{gold.queries.get(topic) or ''}".strip()
            numbers, boxes = pages.boxes(int(p.start[place]), int(p.end[place]))
            for page in np.unique(numbers).tolist():
                marks.append(Highlight(page, tuple(map(tuple, boxes[numbers == page].tolist())), note, AUTHOR))
        file = documents.documents.column("file")[row].as_py()
        files[file] = [write_highlights(pages.file(file), file, marks)]
    return files
