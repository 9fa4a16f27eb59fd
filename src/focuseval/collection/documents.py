"""Small collections without an index on disk: a folder, an archive or a JSONL of texts, parsed into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from focuseval.collection.batches import LARGEST, read_file
from focuseval.collection.block import Block, fingerprint, make_block, plain_texts
from focuseval.collection.document_files import DOCUMENTS, json_documents, json_files, unpacked
from focuseval.collection.index import Index
from focuseval.collection.parse import ParseReport, Raw, describe_documents, parse_documents
from focuseval.collection.pdf import PdfRules
from focuseval.collection.segments import Segments, holds_segments, read_segments
from focuseval.collection.sources import Sources
from focuseval.collection.store import document_rows, is_index, open_index
from focuseval.engine.storage import location
from focuseval.errors import CollectionError, Place


def open_documents(path: str | Path | Mapping[str, str], *, apart: bool = True) -> Index:
    """Open documents as an index in memory: a folder, an archive, a file, or a JSONL of ``{"id", "text"}``.

    A folder that is an index is opened as one; a mapping from ids to texts is taken as it is; of JSON lines that are
    segments (TREC RAG) the documents are put together. JSON lines may be compressed, and several files in a folder.
    Unless they are `apart`, words of HTML are not separated where a browser breaks the line, as in version 0.2.0.

    >>> open_documents({"a.md": "To be, or not to be."}).text(0)
    'To be, or not to be.'
    """
    if isinstance(path, Mapping):
        return in_memory([texts_block(list(path), list(path.values()))] if path else [], "documents")
    place = location(path)
    if is_index(place):
        return open_index(place)
    files = json_files(place)
    if files and holds_segments(files):
        segments, texts = read_segments(files)
        return in_memory([texts_block(list(texts), list(texts.values()))], str(path), segments=segments)
    if files:
        read: dict[str, tuple[Place, str]] = {}
        for at, document, text in json_documents(files):
            if document in read:
                where = f"on line {read[document][0].line}" if len(files) == 1 else f"at {read[document][0]}"
                raise CollectionError(f"document id {document!r} is {where} already", at=at, remedy="keep one")
            read[document] = at, text
        if not read:
            what = 'expected a line {"id": …, "text": …} per document, found none'
            raise CollectionError(what, at=str(path), remedy="write one such object on a line")
        return in_memory([texts_block(list(read), [text for _, text in read.values()])], str(path))
    report, sources, blocks = ParseReport(), Sources([place]), []
    held = ((one, one.read() if one.read else read_file(one.file)) for one in sources)
    for portion in portions(Raw(one.id, one.file, unpacked(data, one.file), one.kind, apart) for one, data in held):
        block, parsed = parse_documents(portion)
        report.add(parsed)
        blocks += [] if block is None else [block]
    counted = {
        "sources": [str(place.absolute())],
        "passed_over": dict(sources.passed_over),
        "first_passed_over": sources.first,
        "entities_by_name": report.named,
        "entities_left_out": dict(report.left_out),
        **({"pdf": PdfRules().signature(), "pages_without_text": report.scanned} if report.pages else {}),
    }
    return in_memory(blocks, str(path), counted)


def portions(raws: Iterable[Raw]) -> Iterator[list[Raw]]:
    """Cut documents into lists of about as many bytes as a batch of an index has."""
    portion, size = list[Raw](), 0
    for raw in raws:
        portion.append(raw)
        size += len(raw.data)
        if size >= LARGEST:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def in_memory(
    blocks: Sequence[Block], name: str, metadata: Mapping[str, Any] | None = None, segments: Segments | None = None
) -> Index:
    """Return blocks as an index."""
    if not blocks:
        what = f"expected documents ({', '.join(DOCUMENTS)}), found none"
        raise CollectionError(what, at=name, remedy="name a folder, an archive, a JSONL file or an index")
    first = np.append(0, np.cumsum([len(block) for block in blocks])).astype(np.int64)
    total = sum(fingerprint(block) for block in blocks) % 2**256
    documents = pa.Table.from_batches([document_rows(block) for block in blocks])
    return Index(documents, list(blocks), first, f"{total:064x}", name, metadata or {}, segments)


def texts_block(ids: Sequence[str], texts: Sequence[str]) -> Block:
    """Return plain texts as a block, one element each."""
    parsed = plain_texts(texts)
    raws = [Raw(name, "", data.encode(), "text") for name, data in zip(ids, texts, strict=True)]
    return make_block(describe_documents(raws, parsed), parsed)
