"""Cut documents into chunks, by a SPEC, a splitter or a file; read and write files of chunks.

A file holds JSON lines with a place or a text, segments, or any run, whose topics and ranks are ignored.

::

    {"doc": "a.md", "chunk": 0, "start": 0, "end": 400, "text": "…"}

is what is written. ``start`` and ``end`` are code points, half-open; a line that has only a text is looked for in its
document. The other layout that is written is that of segments (TREC RAG), whose ids a retriever can return in their
place: ``{"docid": "a.md#0", "segment": "…", "start_char": 0, "end_char": 400}``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.chunks import SPLITTERS, Chunks, Spec, as_chunks, cuts, parse_spec
from focuseval.collection.index import Index
from focuseval.engine.storage import location
from focuseval.errors import FormatError, MissingDataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from focuseval.collection.protocol import Collection
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.run import Run
    from focuseval.engine.storage import Location

LAYOUTS = ("jsonl", "segments")
_EXPECTED = 'expected {"doc": "…", "start": 0, "end": 9} or {"doc": "…", "text": "…"}'


def read_chunks(path: str, index: Collection | None = None) -> Chunks:
    """Read chunks: JSON lines of ``doc``, ``start``, ``end``, segments, or any other run format with spans."""
    from focuseval.collection.document_files import json_files  # noqa: PLC0415  chunks in memory need no reader
    from focuseval.collection.segments import holds_segments, read_segments  # noqa: PLC0415  as above
    from focuseval.formats import read_run  # noqa: PLC0415  as above

    files, name = json_files(location(path)), location(path).name.removesuffix(".gz").rpartition(".")[0] or path
    if files and holds_segments(files):
        every, _ = read_segments(files)
        return Chunks(every.document, every.start, every.end, name)
    if files and not _holds_topics(files):
        return _from_lines(files, index, path, name)
    return chunks_of(read_run(path, index=index), name)


def chunks_of(run: Run, name: str = "") -> Chunks:
    """Return the places of a run's results as chunks."""
    if run.start is None or run.end is None:
        raise MissingDataError(f"{run.file or run.run_id}: chunks need a start and an end in their document")
    kept = np.flatnonzero((run.start >= 0) & (run.end > run.start))
    return Chunks(run.document.take(kept), run.start[kept], run.end[kept], name or run.run_id, run.remarks)


def _holds_topics(files: Sequence[Location]) -> bool:
    """Say whether files of JSON lines are a run, by their first object."""
    from focuseval.collection.document_files import records  # noqa: PLC0415  as above

    first = next(records(files, _EXPECTED), None)
    return first is not None and "topic" in first[1]


def _from_lines(files: Sequence[Location], index: Collection | None, path: str, name: str) -> Chunks:
    """Return the chunks of JSON lines without topics; a text is looked for where there are documents."""
    from focuseval.collection.document_files import records  # noqa: PLC0415  as above
    from focuseval.formats.frameworks import retrieved, run_from_results  # noqa: PLC0415  as above
    from focuseval.placing import place_run  # noqa: PLC0415  as above

    found = list(records(files, _EXPECTED))
    for at, record in found:
        said = retrieved(record, None, at)
        if not said.text and said.end < 0:
            raise FormatError(f"{_EXPECTED}, found keys {sorted(record)}", at=at, remedy="give a place or a text")
    run = run_from_results({"-": [record for _, record in found]})
    text = pc.if_else(pc.equal(run.text, ""), pa.scalar(None, pa.string()), run.text)
    run = replace(run, text=text, file=path, line=np.array([at.line for at, _ in found], np.int64))
    return chunks_of(run if index is None else place_run(run, index), name)


def write_chunks(chunks: Chunks, path: str | Path, documents: Collection, layout: str = "jsonl") -> None:
    """Write chunks with their texts, whole or not at all; ``-`` is the standard output."""
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(path, _lines(chunks, documents, layout))


def _lines(chunks: Chunks, documents: Collection, layout: str) -> Iterator[bytes]:
    """Yield a line for every chunk; a document's chunks are numbered as they come."""
    if layout not in LAYOUTS:
        raise UsageError(f"expected a layout among {', '.join(LAYOUTS)}, found {layout!r}; name one of these")
    ids, seen = chunks.document.to_pylist(), Counter[str]()
    for doc, start, end, text in zip(
        ids, chunks.start.tolist(), chunks.end.tolist(), chunks.texts(documents), strict=True
    ):
        number = seen[doc]
        seen[doc] += 1
        if layout == "segments":
            said = {"docid": f"{doc}#{number}", "segment": text, "start_char": start, "end_char": end}
        else:
            said = {"doc": doc, "chunk": number, "start": start, "end": end, "text": text}
        yield (json.dumps(said, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def chunk(
    docs: Index | str | Path | Mapping[str, str],
    how: str | Path | Spec | Chunks | Any,
    *,
    tokenizer: str | Tokenizer | None = None,
) -> Chunks:
    """Cut documents into chunks.

    Parameters
    ----------
    docs
        An index, documents as ``--docs`` takes them, or a mapping from ids to texts.
    how
        ``characters:400/300``, ``words:100``, ``sentences:5``, ``tokens:256``, ``elements:sec``,
        ``langchain:CLASS:400/300``, ``llamaindex:CLASS:256``; a file of chunks; chunks; or a splitter: any object with
        a method ``split_text``, as those of LangChain and LlamaIndex have.
    tokenizer
        ``tiktoken:NAME``, ``tokenizers:FILE`` or a `focuseval.collection.tokens.Tokenizer`, for tokens.

    >>> cut = chunk({"a": "To be, or not to be."}, "words:3")
    >>> cut.to_arrow().to_pylist()[:2]
    [{'doc': 'a', 'start': 0, 'end': 9}, {'doc': 'a', 'start': 10, 'end': 19}]
    """
    index = opened(docs)
    if isinstance(how, Chunks):
        return how
    if isinstance(how, (str, PathLike)):
        if location(how).is_file():
            return read_chunks(str(how), index)
        how = parse_spec(str(how))
    if isinstance(how, Spec) and how.kind not in SPLITTERS:
        return as_chunks(index, cuts(index, how, tokenizer), str(how))
    from focuseval.formats.splitters import named_splitter, split  # noqa: PLC0415  only splitters need aligning

    splitter = named_splitter(how, tokenizer) if isinstance(how, Spec) else how
    return split(index, splitter, str(how) if isinstance(how, Spec) else type(how).__name__)


def opened(docs: Index | str | Path | Mapping[str, str]) -> Index:
    """Return an index as it is; documents are opened."""
    if isinstance(docs, Index):
        return docs
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  an index needs no reader

    return open_documents(docs)
