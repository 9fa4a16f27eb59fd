"""Build the index of a collection's words: in segments, each of which is made by itself.

A segment is a run of blocks with `TEXT` characters, or one block with more. Whoever makes one holds its columns in
memory and writes its files, so memory does not grow with the collection, and nothing of it passes between processes.
`focuseval.retrieval.store` says what the files hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from threading import get_ident
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.block import Block, recoded
from focuseval.collection.boundaries import cut_block
from focuseval.collection.index import Index
from focuseval.collection.store import MappedBlocks
from focuseval.engine import native
from focuseval.engine.files import sealed
from focuseval.engine.storage import location
from focuseval.engine.workers import Workers, given
from focuseval.errors import CollectionError
from focuseval.retrieval.terms import Language, stemmer_version

Put = Callable[[str, Any], None]
"""Keeps a file of the words, by its name and content."""

TEXT = 80_000_000  # characters of a segment

VERSION = 3  # changes whenever words are cut or laid down in another way

_KNOWN = 400_000  # words whose terms a worker knows, at most, when it begins a segment


@cache
def _language(name: str, thread: int) -> list[Language]:  # noqa: ARG001  threads of a worker must not count words at once
    """Return a language that this thread goes on using: the words of one segment are known in the next."""
    return [Language(name)]


def place(
    block: Block, start: NDArray[np.int32], kept: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return every element's first kept word, and past its last."""
    columns = [np.ascontiguousarray(block.element(name), np.int32) for name in ("start", "end", "parent")]
    bounds, library = np.ascontiguousarray(block.element_bounds), native.library()
    if library is None:
        begins, ends, _ = (column[bounds[0] : bounds[-1]] for column in columns)
        sizes = np.diff(bounds)
        document = np.repeat(np.arange(len(sizes)), sizes) << 32
        words = (np.repeat(np.arange(len(sizes)), np.diff(kept)) << 32) | start
        low, high = np.searchsorted(words, document | begins), np.searchsorted(words, document | ends)
        return low.astype(np.int32), np.maximum(low, high).astype(np.int32)
    first, last = (np.zeros(int(bounds[-1]), np.int32) for _ in range(2))
    others = native.addresses(*columns, first, last)
    if not library.words_place(*native.addresses(start, kept, bounds), len(bounds) - 1, *others):
        what = "expected elements inside each other, found others"
        raise CollectionError(what, remedy="the index is damaged: build it again")
    return first[bounds[0] :], last[bounds[0] :]


def build_segment(
    index: Index, name: str, tags: list[str], put: Put, numbered: tuple[int, tuple[int, int]]
) -> dict[str, Any]:
    """Read the words of some blocks and keep them as a segment; return its counts, and the checksums of its files."""
    number, (begin, end) = numbered
    held = _language(name, get_ident())
    if held[0].known > _KNOWN:
        held[0] = Language(name)
    language, words, kept, before, terms = held[0], 0, 0, 0, [np.zeros(0, np.int32)]
    contents: dict[str, list[bytes]] = {}
    for which in range(begin, end):
        block = index.blocks[which]
        cut = cut_block(block)
        term = np.array(language.numbers(cut.distinct.to_pylist()), np.int32)[cut.number]
        word = np.flatnonzero(term >= 0)
        first, last = place(block, np.ascontiguousarray(cut.start[word]), np.searchsorted(word, cut.bounds))
        gap = cut.start - np.append(np.int32(0), cut.end)[:-1]
        heads = cut.bounds[:-1][np.diff(cut.bounds) > 0]
        gap[heads] = cut.start[heads]
        own = slice(int(block.element_bounds[0]), int(block.element_bounds[-1]))
        columns: dict[str, NDArray[Any]] = {
            "gap": gap << 1 ^ gap >> 31,  # the pairs of scripts without blanks overlap
            "length": cut.end - cut.start,
            "documents": np.diff(cut.bounds),
            "depth": block.element("depth")[own],
            "tag": recoded(block.tags, tags)[block.element("tag")[own]],
            "first": np.diff(first + np.int32(kept), prepend=np.int32(before)),
            "size": last - first,
        }
        for column, values in columns.items():
            contents.setdefault(column, []).append(native.pack(values)[0].tobytes())
        contents.setdefault("kept", []).append((term >= 0).tobytes())
        terms.append(term[word])
        words, kept, before = words + len(term), kept + len(word), kept + int(first[-1])
        if isinstance(index.blocks, MappedBlocks):
            index.blocks.release(which)
    term = np.concatenate(terms)
    terms.clear()
    names, packed, begins = _postings(language, term)
    whole = {column: b"".join(parts) for column, parts in contents.items()}
    whole["kept"] = np.packbits(np.frombuffer(whole["kept"], np.bool_)).tobytes()
    whole |= {"postings": native.pack(np.diff(begins))[0].tobytes(), "terms": "\n".join(names).encode()}
    whole["occurrences"], files = packed.tobytes(), dict[str, list[int]]()
    for column, content in whole.items():
        written = content if column == "occurrences" else pa.compress(content, "zstd", asbytes=True)
        files[column] = [len(content), crc32(written)]
        put(f"{number}-{column}", written)
    return {"blocks": end - begin, "words": words, "kept": kept, "terms": len(names), "files": files}


def _postings(language: Language, term: NDArray[np.int32]) -> tuple[list[str], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the terms of kept words in the order of their bytes, the words that have each, and where these begin.

    The numbers of the terms are lost: a segment has many of them.
    """
    counts = np.bincount(term, minlength=len(language.terms))
    used = sorted(np.flatnonzero(counts).tolist(), key=lambda code: language.terms[code].encode())
    rank = np.zeros(len(counts), np.int32)
    rank[used] = np.arange(len(used))
    np.take(rank, term, out=term)
    bounds, library = np.append(0, np.cumsum(counts[used])), native.library()
    posted = np.empty(len(term), np.int32)
    if library is None:
        posted[:] = np.argsort(term, kind="stable")
    else:
        following = bounds.copy()
        library.words_post(*native.addresses(term), len(term), 0, *native.addresses(following, posted))
    heads = posted[bounds[:-1]]
    posted[1:] = np.diff(posted)  # from the word before; the first of a term counts from the segment's
    posted[bounds[:-1]] = heads
    packed, begins = native.pack(posted, bounds)
    return [language.terms[code] for code in used], packed, begins


def build_words(
    index: Index,
    language: str,
    put: Put,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: Workers | None = None,
) -> None:
    """Make the index of words, a segment a task; ``words.json`` comes last."""
    blocks, made, edges = index.blocks, list[dict[str, Any]](), [0]
    tags = sorted(set().union(*(blocks.tags if isinstance(blocks, MappedBlocks) else (one.tags for one in blocks))))
    ends = np.append(0, np.cumsum(index.lengths))[index.first]
    while edges[-1] < len(blocks):
        edges.append(max(edges[-1] + 1, int(np.searchsorted(ends, ends[edges[-1]] + TEXT, "right")) - 1))
    cuts, work = list(pairwise(edges)), partial(build_segment, index, language, tags, put)
    try:
        with given(1 if len(cuts) < 2 else jobs, workers) as crew:
            for one in crew.in_order(work, enumerate(cuts)):
                made.append(one)
                if progress:
                    progress(cuts[len(made) - 1][1], len(blocks))
    finally:
        _language.cache_clear()  # words that were kept for the next segment
    metadata = {
        "version": VERSION,
        "language": language,
        "stemmer": stemmer_version(language),
        "sha256": index.sha256,
        "tags": tags,
        "segments": made,
    }
    put("words.json", sealed(metadata))


def keep_in(folder: str, name: str, content: Any) -> None:
    """Keep a file in a folder, which may be on object storage."""
    (location(folder) / name).write_bytes(content)
