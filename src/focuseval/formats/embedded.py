"""Golds in whose files the documents are embedded, and the check of every quote against its document.

SQuAD, Qasper and Natural Questions hold the texts that their answers point into, and so does KILT's knowledge source.
`embedded_documents` gives them, for checking or for another file; `open_documents` opens them, as ``--docs`` does;
`check_quotes` says of every span whether it is where it was said to be.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from focuseval.collection.document_files import json_files
from focuseval.collection.documents import open_documents as open_collection
from focuseval.engine.storage import location
from focuseval.errors import FormatError
from focuseval.formats import detect_source, find_format, sniff_spans
from focuseval.formats.output import write_whole
from focuseval.formats.source import open_source, open_sources
from focuseval.placing import SIMILARITY, align_gold
from focuseval.placing.texts import as_collection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from focuseval.collection.index import Index
    from focuseval.collection.protocol import Collection
    from focuseval.data.alignment import Alignment
    from focuseval.data.gold import Gold


def embedded_documents(path: str | Path, format: str | None = None) -> dict[str, str]:  # noqa: A002  the field's word
    """Return the texts that are embedded in a gold file (or in KILT's knowledge source), by document id."""
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else detect_source(sources[0], "gold")
    carried = getattr(import_module(chosen.module), "carried", None)
    if carried is None:
        raise FormatError(f"expected a format that contains its documents, found {chosen.name}", at=str(path))
    return dict(carried(sources))


def open_documents(path: str | Path | Mapping[str, str]) -> Index:
    """Open documents as an index in memory: whatever ``--docs`` takes.

    A folder, an archive, a file, a JSONL of ``{"id", "text"}``, a folder of BEIR, a gold in which its documents are
    embedded (SQuAD, Qasper, Natural Questions), KILT's knowledge source, segments (TREC RAG), of which the documents
    are put together, or a mapping from ids to texts. A folder that is an index is opened as one. JSON lines may be
    compressed, and several files in a folder.

    >>> open_documents({"a.md": "To be, or not to be."}).text(0)
    'To be, or not to be.'
    """
    place = None if isinstance(path, Mapping) else location(path)
    if place is not None and place.is_file() and json_files(place):
        source = open_source(place)
        chosen = next((name for name, sniff in _CARRIERS.items() if sniff(source.head())), None)
        if chosen is not None:
            return open_collection(embedded_documents(str(place), chosen))
    return open_collection(path)


_CARRIERS = {
    "squad": sniff_spans.squad,
    "qasper": sniff_spans.qasper,
    "kilt": sniff_spans.knowledge_source,
    "natural-questions": sniff_spans.natural_questions,
}
"""Formats of files with embedded documents, and how such a file is detected."""


def write_documents(documents: Mapping[str, str], path: str | Path) -> None:
    """Write texts as JSON lines of ``{"id", "text"}``, which ``--docs`` takes; whole or not at all."""
    lines = (json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n" for name, text in documents.items())
    write_whole(path, (line.encode("utf-8", "replace") for line in lines))


def check_quotes(
    path: str | Path,
    documents: Collection | Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  the field's word
    similarity: float = SIMILARITY,
) -> tuple[Gold, Alignment]:
    """Return a gold with every quote verified or repaired, and what was found.

    Without `documents` they must be embedded in the file.
    """
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else detect_source(sources[0], "gold")
    texts = as_collection(embedded_documents(path, chosen.name) if documents is None else documents)
    read = getattr(import_module(chosen.module), "read_quotes", None)
    gold: Gold = read(sources) if read else chosen.reader(texts)(sources)
    return align_gold(replace(gold, placement=None), texts, similarity=similarity)


def write_repairs(table: pa.Table, path: str | Path) -> None:
    """Write a table of repairs as CSV, or as JSON lines where the name ends in ``.jsonl``; whole or not at all."""
    write_whole(path, _json_lines(table) if str(path).endswith(".jsonl") else _csv(table))


def _json_lines(table: pa.Table) -> Iterator[bytes]:
    for row in table.to_pylist():
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _csv(table: pa.Table) -> Iterator[bytes]:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    yield out.getvalue().encode("utf-8", "replace")
