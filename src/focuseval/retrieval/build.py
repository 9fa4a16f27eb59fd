"""Build the index of a collection's words: block by block, then one list of words for every term.

What a block gives is laid down on the disk: memory does not grow with the collection. The lists of all terms are
filled in the order of the blocks, so that every list ascends without a sort.
"""

from __future__ import annotations

import shutil
from functools import cache, partial
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.boundaries import cut_block
from focuseval.engine import native
from focuseval.engine.files import checksum, sealed
from focuseval.engine.storage import location
from focuseval.engine.workers import given
from focuseval.errors import CollectionError
from focuseval.retrieval.terms import Language, stemmer_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.block import Block
    from focuseval.collection.index import Index
    from focuseval.engine.storage import Location
    from focuseval.engine.workers import Workers


@cache
def _language(name: str, thread: int) -> Language:  # noqa: ARG001  threads of a worker must not count words at once
    """Return a language that this thread goes on using: the words of one block are known in the next."""
    return Language(name)


def read_block(index: Index, name: str, scratch: str, number: int) -> tuple[int, int]:
    """Lay the columns of one block down in a folder; return how many words it has and how many are kept."""
    block, folder, language = index.blocks[number], location(scratch), _language(name, get_ident())
    cut = cut_block(block)
    term = np.array(language.numbers(cut.distinct.to_pylist()), np.int32)[cut.number]
    word = np.flatnonzero(term >= 0).astype(np.int32)
    counts = np.bincount(term[word], minlength=len(language.terms))
    used = np.flatnonzero(counts)
    recode = np.zeros(len(counts), np.int32)
    recode[used] = np.arange(len(used))
    kept = np.searchsorted(word, cut.bounds)
    element, first, last = place(block, np.ascontiguousarray(cut.start[word]), kept)
    columns: dict[str, NDArray[Any]] = {
        "start": cut.start,
        "end": cut.end,
        "bounds": cut.bounds,
        "word": word,
        "term": recode[term[word]],
        "element": element,
        "first": first,
        "last": last,
        "counts": counts[used],
    }
    for part, column in columns.items():
        with (folder / f"{number}-{part}.npy").open("wb") as file:
            np.save(file, column)
    terms = "\n".join(language.terms[code] for code in used.tolist())
    (folder / f"{number}-terms.txt").write_bytes(terms.encode())
    return len(term), len(word)


def place(
    block: Block, start: NDArray[np.int32], kept: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the deepest element of every kept word, and every element's first kept word and past its last."""
    columns = [np.ascontiguousarray(block.element(name)) for name in ("start", "end", "parent")]
    bounds = np.ascontiguousarray(block.element_bounds)
    library = native.library()
    if library is None:
        return _place_in_numpy(start, kept, bounds, columns)
    deepest = np.empty(len(start), np.int32)
    first, last = (np.zeros(int(bounds[-1]), np.int32) for _ in range(2))
    words = (array.ctypes.data for array in (start, kept, bounds))
    others = (array.ctypes.data for array in (*columns, deepest, first, last))
    if not library.words_place(*words, len(bounds) - 1, *others):
        what = "expected elements inside each other, found others"
        raise CollectionError(what, remedy="the index is damaged: build it again")
    return deepest - np.int32(bounds[0]), first[bounds[0] :], last[bounds[0] :]


def _place_in_numpy(
    start: NDArray[np.int32], kept: NDArray[np.int64], bounds: NDArray[np.int64], columns: list[NDArray[np.int32]]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Find every word's place among the elements by one search; the element begun last may have ended before it."""
    begins, ends, parent = (column[bounds[0] : bounds[-1]] for column in columns)
    sizes = np.diff(bounds)
    document = np.repeat(np.arange(len(sizes)), sizes) << 32
    words = (np.repeat(np.arange(len(sizes)), np.diff(kept)) << 32) | start
    opened, closed = document | begins, document | ends
    first, last = np.searchsorted(words, opened), np.searchsorted(words, closed)
    above = np.where(parent < 0, -1, parent + np.repeat(bounds[:-1] - bounds[0], sizes))
    deepest = np.searchsorted(opened, words, "right") - 1
    while (gone := np.flatnonzero(closed[deepest] <= words)).size:
        deepest[gone] = above[deepest[gone]]
    return deepest.astype(np.int32), first.astype(np.int32), np.maximum(first, last).astype(np.int32)


VERSION = 2
"""Changes whenever words are cut or laid down in another way."""

_MOST = 2**31 - 1
"""Words and elements that 32-bit numbers can count."""

COLUMNS: dict[str, type[np.integer]] = {
    **dict.fromkeys(("start", "end", "word", "element", "postings", "first", "last", "parent", "tag"), np.int32),
    "depth": np.int16,
    "word_bounds": np.int64,
    "offsets": np.int64,
}
"""The files of an index of words; `focuseval.retrieval.store` says what each holds."""


def build_words(
    index: Index,
    language: str,
    folder: Path,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: Workers | None = None,
    scratch: Location | None = None,
) -> None:
    """Write the index of words into an empty folder; `scratch` is where workers lay their blocks down, if not there."""
    many = len(index.blocks)
    if scratch is None:
        scratch = folder.absolute() / "blocks"
        scratch.mkdir()
    counts: list[tuple[int, int]] = []
    _refuse_too_many(index, int(index.element_bounds[-1]), "elements")
    read = 0
    try:
        with given(1 if many < 2 else jobs, workers) as crew:
            for count in crew.in_order(partial(read_block, index, language, str(scratch)), range(many)):
                counts.append(count)
                read += count[0]
                _refuse_too_many(index, read, "words")  # now, not when all of them are read
                if progress:
                    progress(len(counts), many)
    finally:
        _language.cache_clear()  # words that were kept for the next block
    words, kept = (np.append(0, np.cumsum([count[place] for count in counts], dtype=np.int64)) for place in range(2))
    terms = _terms(folder, scratch, many)
    _join(index, folder, scratch, words, kept)
    tags = _elements(index, folder)
    _post(folder, scratch, terms, kept)
    if isinstance(scratch, Path):
        shutil.rmtree(scratch)
    metadata = {
        "version": VERSION,
        "language": language,
        "stemmer": stemmer_version(language),
        "sha256": index.sha256,
        "words": int(words[-1]),
        "kept": int(kept[-1]),
        "terms": len(terms[0]),
        "tags": tags,
        "checksums": {file.name: checksum(file) for file in folder.iterdir() if file.is_file()},
    }
    (folder / "words.json").write_bytes(sealed(metadata))


def _refuse_too_many(index: Index, number: int, what: str) -> None:
    if number > _MOST:
        remedy = "index parts of the collection, retrieve from each, and merge the runs with 'focuseval fuse'"
        raise CollectionError(f"expected at most {_MOST:,} {what}, found more", at=index.name, remedy=remedy)


def _column(folder: Path, name: str, size: int) -> NDArray[Any]:
    """Return a column that is written to its file; an empty one cannot be mapped."""
    if not size:
        np.save(folder / f"{name}.npy", np.zeros(0, COLUMNS[name]))
        return np.zeros(0, COLUMNS[name])
    return np.lib.format.open_memmap(folder / f"{name}.npy", "w+", COLUMNS[name], (size,))


def _block(scratch: Location, number: int, name: str) -> NDArray[Any]:
    with (scratch / f"{number}-{name}.npy").open("rb") as file:
        return np.asarray(np.load(file))


def _terms(folder: Path, scratch: Location, many: int) -> tuple[pa.Array, list[NDArray[np.int32]]]:
    """Write all terms in the order of their bytes; return them, and for every block which of them its own are."""
    texts = [(scratch / f"{number}-terms.txt").read_text(encoding="utf-8") for number in range(many)]
    parts = [pa.array(text.split("\n") if text else [], pa.string()) for text in texts]
    coded = pa.concat_arrays([pa.array([], pa.string()), *parts]).dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    rank = np.empty(len(order), np.int32)
    rank[order.to_numpy()] = np.arange(len(order))
    ranked = rank[coded.indices.to_numpy()]
    terms = coded.dictionary.take(order)
    with pa.ipc.new_file(str(folder / "terms.arrow"), pa.schema([("term", pa.string())])) as writer:
        writer.write_table(pa.table({"term": terms}))
    return terms, np.split(ranked, np.cumsum([len(part) for part in parts])[:-1])


def _join(index: Index, folder: Path, scratch: Location, words: NDArray[np.int64], kept: NDArray[np.int64]) -> None:
    """Write the columns of words and elements of all blocks one after the other; numbers count through all of them."""
    elements, documents = index.element_bounds[index.first], index.first
    for name, bounds, base in (
        ("start", words, None),
        ("end", words, None),
        ("word", kept, words),
        ("element", kept, elements),
        ("first", elements, kept),
        ("last", elements, kept),
    ):
        column = _column(folder, name, int(bounds[-1]))
        for number in range(len(bounds) - 1):
            here = _block(scratch, number, name)
            column[bounds[number] : bounds[number + 1]] = here if base is None else here + np.int32(base[number])
    column = _column(folder, "word_bounds", len(index) + 1)
    for number in range(len(documents) - 1):
        column[documents[number] : documents[number + 1] + 1] = _block(scratch, number, "bounds") + words[number]


def _elements(index: Index, folder: Path) -> list[str]:
    """Write what the collection says of its elements, numbered through all documents; return the tags."""
    total = int(index.element_bounds[-1])
    parent, depth, tag = (_column(folder, name, total) for name in ("parent", "depth", "tag"))
    tags: dict[str, int] = {}
    for number, block in enumerate(index.blocks):
        low, high = index.element_bounds[index.first[number]], index.element_bounds[index.first[number + 1]]
        own = slice(int(block.element_bounds[0]), int(block.element_bounds[-1]))
        above = block.element("parent")[own]
        base = np.repeat(block.element_bounds[:-1] - block.element_bounds[0] + low, np.diff(block.element_bounds))
        parent[low:high] = np.where(above < 0, -1, above + base)
        depth[low:high] = block.element("depth")[own]
        recode = np.array([tags.setdefault(name, len(tags)) for name in block.tags], np.int32)
        tag[low:high] = recode[block.element("tag")[own]]
    return list(tags)


def _post(
    folder: Path, scratch: Location, terms: tuple[pa.Array, Sequence[NDArray[np.int32]]], kept: NDArray[np.int64]
) -> None:
    """Write for every term the numbers of the kept words that have it."""
    names, codes = terms
    offsets = _column(folder, "offsets", len(names) + 1)
    total = np.zeros(len(names) + 1, np.int64)
    for number, code in enumerate(codes):
        total[code + 1] += _block(scratch, number, "counts")
    offsets[:] = np.cumsum(total)
    following = np.array(offsets)
    postings, library = _column(folder, "postings", int(kept[-1])), native.library()
    for number, code in enumerate(codes):
        term = np.ascontiguousarray(code[_block(scratch, number, "term")])
        if library is not None and len(postings):
            where = (following.ctypes.data, postings.ctypes.data)
            library.words_post(term.ctypes.data, len(term), int(kept[number]), *where)
            continue
        order, counts = np.argsort(term, kind="stable"), _block(scratch, number, "counts")
        own = np.argsort(code)
        begins = np.cumsum(counts[own]) - counts[own]
        target = np.repeat(following[code[own]] - begins, counts[own]) + np.arange(len(order))
        postings[target] = order + kept[number]
        following[code] += counts
