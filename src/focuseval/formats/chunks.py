"""Cut documents into chunks, by a SPEC, a splitter or a file; read and write files of chunks.

A file holds JSON lines with a place or a text, segments, or any run, whose topics and ranks are ignored.

::

    {"doc": "a.md", "chunk": 0, "start": 0, "end": 400, "text": "…"}

is what is written. ``start`` and ``end`` are code points, half-open; a line that has only a text is looked for in its
document. The other layout that is written is that of segments (TREC RAG), whose ids a retriever can return in their
place: ``{"docid": "a.md#0", "segment": "…", "start_char": 0, "end_char": 400}``.

A splitter is one of LangChain or LlamaIndex, or any object with ``split_text``. What it returns is text. It is placed
by `focuseval.align_chunks`, in the splitter's order, so that repeated texts find their places; a text that stands
nowhere is left out and counted in the remarks.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.boundaries import texts_of
from focuseval.collection.chunks import SPLITTERS, Chunks, Embed, Spec, as_chunks, cuts, parse_spec
from focuseval.collection.document_files import json_files, records
from focuseval.collection.index import Collection, Index
from focuseval.collection.segments import holds_segments, read_segments
from focuseval.collection.tokens import Tokenizer, open_tokenizer
from focuseval.data.fields import json_line
from focuseval.data.run import Run
from focuseval.engine.plugins import plugin
from focuseval.engine.storage import location
from focuseval.errors import FormatError, MissingDataError, UsageError, did_you_mean
from focuseval.formats.content import write_whole
from focuseval.formats.embedded import open_documents
from focuseval.formats.files import read_run
from focuseval.formats.frameworks import retrieved, run_from_results
from focuseval.placing.place import place_run
from focuseval.placing.texts import align_chunks

LAYOUTS = ("jsonl", "segments")
_EXPECTED = 'expected {"doc": "…", "start": 0, "end": 9} or {"doc": "…", "text": "…"}'
_MODULES = {
    "langchain": ("langchain_text_splitters", "langchain-text-splitters"),
    "llamaindex": ("llama_index.core.node_parser", "llama-index-core"),
}
"""Where the classes of a package are, and what is installed to have them."""


def read_chunks(path: str, index: Collection | None = None) -> Chunks:
    """Read chunks: JSON lines of ``doc``, ``start``, ``end``, segments, or any other run format with spans."""
    files, name = json_files(location(path)), location(path).name.removesuffix(".gz").rpartition(".")[0] or path
    if files and holds_segments(files):
        every, _ = read_segments(files)
        return Chunks(every.document, every.start, every.end, name)
    first = next(records(files, _EXPECTED), None)
    if not files or (first is not None and "topic" in first[1]):
        return chunks_of(read_run(path, index=index), name)
    found = list(records(files, _EXPECTED))
    for at, record in found:
        said = retrieved(record, None, at)
        if not said.text and said.end < 0:
            raise FormatError(f"{_EXPECTED}, found keys {sorted(record)}", at=at, remedy="give a place or a text")
    run = run_from_results({"-": [record for _, record in found]})
    text = pc.if_else(pc.equal(run.text, ""), pa.scalar(None, pa.string()), run.text)
    run = replace(run, text=text, file=path, line=np.array([at.line for at, _ in found], np.int64))
    return chunks_of(run if index is None else place_run(run, index), name)


def chunks_of(run: Run, name: str = "") -> Chunks:
    """Return the places of a run's results as chunks."""
    if run.start is None or run.end is None:
        raise MissingDataError(f"{run.file or run.run_id}: chunks need a start and an end in their document")
    kept = np.flatnonzero((run.start >= 0) & (run.end > run.start))
    remarks = tuple(map(str, run.remarks))
    return Chunks(run.document.take(kept), run.start[kept], run.end[kept], name or run.run_id, remarks)


def write_chunks(chunks: Chunks, path: str | Path, documents: Collection, layout: str = "jsonl") -> None:
    """Write chunks with their texts, whole or not at all; ``-`` is the standard output."""
    write_whole(path, _lines(chunks, documents, layout))


def _lines(chunks: Chunks, documents: Collection, layout: str) -> Iterator[bytes]:
    """Yield a line for every chunk; a document's chunks are numbered as they come."""
    if layout not in LAYOUTS:
        raise UsageError(f"expected a layout among {', '.join(LAYOUTS)}, found {layout!r}; name one of these")
    places, seen = (chunks.document.to_pylist(), chunks.start.tolist(), chunks.end.tolist()), Counter[str]()
    for doc, start, end, text in zip(*places, chunks.texts(documents), strict=True):
        number = seen[doc]
        seen[doc] += 1
        if layout == "segments":
            line = {"docid": f"{doc}#{number}", "segment": text, "start_char": start, "end_char": end}
        else:
            line = {"doc": doc, "chunk": number, "start": start, "end": end, "text": text}
        yield json_line(line, "replace")


def chunk(
    docs: Index | str | Path | Mapping[str, str],
    how: str | Path | Spec | Chunks | Any,
    *,
    tokenizer: str | Tokenizer | None = None,
    embed: Embed | None = None,
) -> Chunks:
    """Cut documents into chunks.

    Parameters
    ----------
    docs
        An index, documents as ``--docs`` takes them, or a mapping from ids to texts.
    how
        ``characters:400/300``, ``words:100``, ``sentences:5``, ``tokens:256``, ``elements:sec``, ``headings:2``,
        ``recursive:400``, ``semantic:95``, ``pages``, ``blocks:3``, ``langchain:CLASS:400/300``,
        ``llamaindex:CLASS:256``; a file of chunks; chunks; or a splitter: any object with a method ``split_text``, as
        those of LangChain and LlamaIndex have.
    tokenizer
        ``tiktoken:NAME``, ``tokenizers:FILE`` or a `focuseval.collection.tokens.Tokenizer`, for tokens.
    embed
        A function from texts to vectors, for ``semantic:95``.

    >>> cut = chunk({"a": "To be, or not to be."}, "words:3")
    >>> cut.to_arrow().to_pylist()[:2]
    [{'doc': 'a', 'start': 0, 'end': 9}, {'doc': 'a', 'start': 10, 'end': 19}]
    """
    index = open_documents(docs)
    if isinstance(how, Chunks):
        return how
    if isinstance(how, (str, PathLike)):
        if location(how).is_file():
            return read_chunks(str(how), index)
        how = parse_spec(str(how))
    if isinstance(how, Spec) and (added := plugin("chunkers", how.kind) if how.origin else None):
        try:
            splitter = added.value("".join(how.names))
        except Exception as error:
            raise UsageError(f"{how}: {added.origin} cannot cut so ({error}); see what the package expects") from error
        return replace(split(index, splitter, str(how)), origin=added.origin)
    if isinstance(how, Spec) and how.kind not in SPLITTERS:
        opened = open_tokenizer(tokenizer) if tokenizer is not None and how.kind == "tokens" else None
        return as_chunks(index, cuts(index, how, opened, embed), str(how))
    splitter = named_splitter(how, tokenizer) if isinstance(how, Spec) else how
    return split(index, splitter, str(how) if isinstance(how, Spec) else type(how).__name__)


def named_splitter(spec: Spec, tokenizer: str | Tokenizer | None = None) -> Any:
    """Return a splitter of a package, which has `split_text`, by its class; size and overlap count what that counts.

    With a tokenizer LlamaIndex's classes, and LangChain's that take a length function, count its tokens.
    """
    place, package = _MODULES[spec.kind]
    try:
        module = import_module(place)
    except ImportError:
        raise MissingDataError(f"{spec}: {package} is not installed; run 'pip install {package}'") from None
    [name] = spec.names
    classes = [one for one in dir(module) if hasattr(getattr(module, one), "split_text")]
    if name not in classes:
        remedy = did_you_mean(name, classes, f"there are {', '.join(classes)}")
        raise UsageError(f"expected a class of {place} with split_text, found {name!r}; {remedy}")
    options: dict[str, Any] = {"chunk_size": spec.size, "chunk_overlap": spec.size - spec.step}
    if tokenizer is not None:
        spans = open_tokenizer(tokenizer).spans
        if spec.kind == "langchain":
            options["length_function"] = lambda text: len(spans(text)[0])
        else:
            options["tokenizer"] = lambda text: spans(text)[0].tolist()
    try:
        return getattr(module, name)(**options)
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        what = f"{spec}: {name} cannot be made ({reason})"
        raise UsageError(f"{what}; make it in Python and give it to focuseval.chunk") from error


def split(index: Index, splitter: Any, name: str) -> Chunks:
    """Return the chunks of a splitter at their places in the documents."""
    if not callable(getattr(splitter, "split_text", None)):
        what = "expected how to cut documents: a SPEC, a file, chunks, or a splitter with split_text"
        raise UsageError(f"{what}, found {splitter!r}; 'characters:400', for instance")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # some log every chunk that is longer than asked for: the sizes are counted anyway
    try:
        texts = [splitter.split_text(text) if text else [] for text in texts_of(index)]
    finally:
        logging.disable(before)
    rows = [row for row, own in enumerate(texts) for _ in own]
    order = [number for own in texts for number in range(len(own))]
    document = index.ids.take(pa.array(rows, pa.int32()))
    found = align_chunks(document, [text for own in texts for text in own], index, order=order)
    kept = np.flatnonzero(found.end > found.start)
    remarks = () if len(kept) == len(rows) else (f"{name}: {found.summary()}; what has no place is left out",)
    return Chunks(document.take(pa.array(kept)), found.start[kept], found.end[kept], name, remarks)
