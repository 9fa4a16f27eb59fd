"""The words of one block of a collection: their terms, the deepest element of each, and the words of each element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.words import cut_block
from focuseval.engine import native
from focuseval.engine.storage import location
from focuseval.retrieval.language import Language

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.block import Block
    from focuseval.collection.index import Index

COLUMNS = ("start", "end", "bounds", "word", "term", "element", "first", "last", "counts")
"""What is laid down for every block, besides its terms."""


@dataclass(frozen=True, eq=False)
class BlockTask:
    """One block to be read into a folder; the index travels to another process by its name."""

    index: Index
    number: int
    language: str
    folder: str


@cache
def _language(name: str, thread: int) -> Language:  # noqa: ARG001  threads of a worker must not count words at once
    """Return a language that this thread goes on using: the words of one block are known in the next."""
    return Language(name)


def read_block(task: BlockTask) -> tuple[int, int]:
    """Lay the columns of one block down in a folder; return how many words it has and how many are kept."""
    block = task.index.blocks[task.number]
    language = _language(task.language, get_ident())
    cut = cut_block(block)
    number = np.array(language.numbers(cut.distinct.to_pylist()), np.int32)
    term = number[cut.number]
    word = np.flatnonzero(term >= 0).astype(np.int32)
    counts = np.bincount(term[word], minlength=len(language.terms))
    used = np.flatnonzero(counts)
    recode = np.zeros(len(counts), np.int32)
    recode[used] = np.arange(len(used))
    kept = np.searchsorted(word, cut.bounds)
    element, first, last = place(block, np.ascontiguousarray(cut.start[word]), kept)
    values: tuple[NDArray[Any], ...] = (
        cut.start,
        cut.end,
        cut.bounds,
        word,
        recode[term[word]],
        element,
        first,
        last,
        counts[used],
    )
    folder = location(task.folder)
    for name, column in zip(COLUMNS, values, strict=True):
        with (folder / f"{task.number}-{name}.npy").open("wb") as file:
            np.save(file, column)
    names = "\n".join(language.terms[code] for code in used.tolist())
    (folder / f"{task.number}-terms.txt").write_bytes(names.encode())
    return len(term), len(word)


def forget_languages() -> None:
    """Let the words go that were kept for the next block."""
    _language.cache_clear()


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
    given = (start, kept, bounds)
    library.words_place(
        *(array.ctypes.data for array in given),
        len(bounds) - 1,
        *(array.ctypes.data for array in (*columns, deepest, first, last)),
    )
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
