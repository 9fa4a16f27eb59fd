"""Build the index of a collection's words: block by block, then one list of words for every term.

What a block gives is laid down on the disk: memory does not grow with the collection. The lists of all terms are
filled in the order of the blocks, so that every list ascends without a sort.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.engine import native
from focuseval.engine.workers import given
from focuseval.errors import CollectionError
from focuseval.retrieval.block_words import BlockTask, forget_languages, read_block
from focuseval.retrieval.language import stemmer_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.engine.storage import Location
    from focuseval.engine.workers import Workers

VERSION = 1
"""Changes whenever words are cut or laid down in another way."""

_MOST = 2**31 - 1
"""Words and elements that 32-bit numbers can count."""

COLUMNS = {
    "start": np.int32,
    "end": np.int32,
    "word": np.int32,
    "element": np.int32,
    "postings": np.int32,
    "first": np.int32,
    "last": np.int32,
    "parent": np.int32,
    "depth": np.int16,
    "tag": np.int32,
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
    tasks = [BlockTask(index, number, language, str(scratch)) for number in range(many)]
    counts = _read(tasks, jobs, workers, progress)
    words, kept = (np.append(0, np.cumsum([count[place] for count in counts], dtype=np.int64)) for place in range(2))
    if max(words[-1], index.element_bounds[-1]) > _MOST:
        raise CollectionError(f"more than {_MOST:,} words", at=index.name, remedy="split the collection")
    terms = _terms(folder, scratch, many)
    _join(index, folder, scratch, words, kept)
    tags = _elements(index, folder)
    _post(folder, scratch, terms, kept)
    if isinstance(scratch, Path):
        shutil.rmtree(scratch)
    said = {
        "version": VERSION,
        "language": language,
        "stemmer": stemmer_version(language),
        "sha256": index.sha256,
        "words": int(words[-1]),
        "kept": int(kept[-1]),
        "terms": len(terms[0]),
        "tags": tags,
    }
    (folder / "words.json").write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(
    tasks: Sequence[BlockTask], jobs: int, others: Workers | None, progress: Callable[[int, int], None] | None
) -> list[tuple[int, int]]:
    """Read all blocks; return how many words each has, and how many are kept."""
    counts: list[tuple[int, int]] = []
    try:
        with given(1 if len(tasks) < 2 else jobs, others) as workers:
            for done in workers.in_order(read_block, tasks):
                counts.append(done)
                if progress:
                    progress(len(counts), len(tasks))
    finally:
        forget_languages()
    return counts


def _column(folder: Path, name: str, size: int) -> NDArray[Any]:
    """Return a column that is written to its file; an empty one cannot be mapped."""
    if not size:
        np.save(folder / f"{name}.npy", np.zeros(0, COLUMNS[name]))
        return np.zeros(0, COLUMNS[name])
    return np.lib.format.open_memmap(folder / f"{name}.npy", "w+", COLUMNS[name], (size,))


def _block(scratch: Location, number: int, name: str) -> NDArray[Any]:
    with (scratch / f"{number}-{name}.npy").open("rb") as file:
        column: NDArray[Any] = np.load(file)
    return column


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
    for number in range(len(index.blocks)):
        block = index.blocks[number]
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
