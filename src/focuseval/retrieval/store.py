"""The index of words: made once for a language, kept beside the collection's index, read as it is needed.

::

    words-english/
        words.json          version, language, stemmer, the collection's hash, tags; of every segment: counts, checksums
        0-terms             the terms of segment 0 in the order of their bytes, a line each
        0-occurrences       for every term the numbers of the kept words that have it, each less the one before
        0-postings          how many bytes of these a term has
        0-documents         how many words every document has
        0-gap, 0-length     of every word: code points since the end of the one before, and its own
        0-kept              of every word a bit: whether it is kept
        0-depth, 0-tag      of every element
        0-first, 0-size     of every element: kept words since the first of the one before, and its own
        1-terms …

Numbers count from the segment's first word, and stand in as few bytes as they need (`native.pack`). All files but
occurrences are compressed (zstd). The deepest element around a word, parents and code points follow from these.
On object storage the words are made there once.
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.index import Index
from focuseval.collection.store import MappedBlocks
from focuseval.engine import native
from focuseval.engine.files import sync, unsealed
from focuseval.engine.lazy import cached_property
from focuseval.engine.storage import Remote, RemoteError
from focuseval.engine.workers import Workers
from focuseval.errors import CollectionError
from focuseval.retrieval.build import VERSION, build_words, keep_in
from focuseval.retrieval.terms import Language, check_language, stemmer_version

Find = Callable[[str], Any]
"""Returns the content of a file of the words, by its name."""
Progress = Callable[..., None]

MOST = 2**31 - 1  # words and elements that are opened together: what 32-bit numbers can count

_IN_MEMORY: WeakKeyDictionary[Index, dict[str, IndexedWords]] = WeakKeyDictionary()
"""The words of collections that lie on no disk, while somebody holds the collection."""


@dataclass(frozen=True, eq=False)
class WordSegment:
    """The words of some blocks."""

    number: int
    counts: dict[str, Any]
    """Blocks, words, kept words, terms, and of every file its size before compression and its checksum."""
    find: Find
    where: str

    def content(self, name: str) -> NDArray[np.uint8]:
        """Return the bytes of a file, which are those that were written."""
        (size, check), wrong = self.counts["files"][name], ""
        try:
            found = pa.py_buffer(self.find(f"{self.number}-{name}"))
            wrong = "" if crc32(found) == check else f"{self.number}-{name} has other bytes than were written"
        except OSError as error:
            wrong = str(error.strerror)
        if wrong:
            remedy = f"remove {self.where}, it will be made again"
            raise CollectionError(f"damaged index of words: {wrong}", at=self.where, remedy=remedy)
        whole = found if name == "occurrences" else pa.decompress(found, size, "zstd")
        return np.frombuffer(whole, np.uint8)

    @cached_property
    def _terms(self) -> tuple[bytes, NDArray[np.int64]]:
        """All terms, and where each ends."""
        lines = self.content("terms")
        return lines.tobytes(), np.append(np.flatnonzero(lines == ord("\n")), len(lines))

    @cached_property
    def _postings(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The words of all terms, and where those of each begin, with the end of the last."""
        sizes = native.unpack(self.content("postings"))
        return self.content("occurrences"), np.append(0, np.cumsum(sizes, dtype=np.int64))

    def occurrences(self, term: str, base: int) -> NDArray[np.int32]:
        """Return the numbers of the kept words that are a term, ascending, counted from a base."""
        (lines, ends), wanted, many = self._terms, term.encode(), self.counts["terms"]
        number = bisect_left(range(many), wanted, key=lambda at: lines[ends[at - 1] + 1 if at else 0 : ends[at]])
        if number == many or lines[ends[number - 1] + 1 if number else 0 : ends[number]] != wanted:
            return np.zeros(0, np.int32)
        packed, begins = self._postings
        return native.unpack(packed[begins[number] : begins[number + 1]], base, sums=True)

    def numbers(self, name: str, base: int = 0, *, sums: bool = False) -> NDArray[np.int32]:
        """Return a column."""
        return native.unpack(self.content(name), base, sums=sums)


@dataclass(frozen=True, eq=False)
class IndexedWords:
    """The words of a collection in one language.

    Columns of words: ``start``, ``end``; of documents: ``word_bounds``, where their words begin, with the end of the
    last; of kept words: ``word``, the number among all, and ``element``, the deepest around it; of elements: ``first``
    and ``last``, the first kept word and past the last, ``parent``, ``depth``, ``tag``.
    """

    index: Index
    language: str
    tags: tuple[str, ...]
    segments: tuple[WordSegment, ...]
    stored: bool = False
    """Whether they lie beside the index, where other processes find them."""
    _columns: dict[str, NDArray[Any]] = field(default_factory=dict)

    def part(self, number: int) -> IndexedWords:
        """Return the words of one segment, of its blocks alone."""
        ends = [0, *accumulate(segment.counts["blocks"] for segment in self.segments)]
        index = self.index.part(ends[number], ends[number + 1])
        return IndexedWords(index, self.language, self.tags, (self.segments[number],))

    def counted(self, what: str) -> int:
        """Return how many ``words`` there are, how many are ``kept``."""
        return sum(segment.counts[what] for segment in self.segments)

    @property
    def terms(self) -> list[str]:
        """The terms of all segments, in the order of their bytes."""
        every = (segment.content("terms").tobytes().decode().split("\n") for segment in self.segments)
        return sorted(set().union(*every) - {""}, key=str.encode)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            _ = self._bases
            make: Callable[[], dict[str, NDArray[Any]]] = {
                "start": self._spans,
                "end": self._spans,
                "parent": self._tree,
                "element": self._tree,
                "first": self._elements,
                "last": self._elements,
            }.get(name, partial(self._single, name))
            self._columns.update(make())
        return self._columns[name]

    @cached_property
    def _bases(self) -> list[int]:
        """The first kept word of every segment; what 32-bit numbers cannot count is not opened together."""
        many = max(self.counted("words"), int(self.index.element_bounds[-1]))
        if many > MOST:
            what = f"expected at most {MOST:,} words and elements to search at once, found {many:,}"
            how = "retrieve by bm25 without chunks= and cas=, which asks one part after the other"
            remedy = f"{how}, or index parts of the collection and merge their runs with 'focuseval fuse'"
            raise CollectionError(what, at=self.index.name, remedy=remedy)
        return list(accumulate((segment.counts["kept"] for segment in self.segments[:-1]), initial=0))

    def _numbers(self, name: str) -> NDArray[np.int32]:
        """Return a column of all segments as it is kept."""
        return joined([segment.numbers(name) for segment in self.segments])

    def _single(self, name: str) -> dict[str, NDArray[Any]]:
        """Return a column that is kept as it is, or needs no other."""
        if name == "word_bounds":
            return {name: np.append(0, np.cumsum(self._numbers("documents"), dtype=np.int64))}
        if name == "word":
            bits = [np.unpackbits(segment.content("kept"), count=segment.counts["words"]) for segment in self.segments]
            return {name: np.flatnonzero(joined(bits).view(np.bool_)).astype(np.int32)}
        return {name: self._numbers(name).astype(np.int16 if name == "depth" else np.int32, copy=False)}

    def _spans(self) -> dict[str, NDArray[Any]]:
        gap, length, bounds, library = *map(self._numbers, ("gap", "length")), self["word_bounds"], native.library()
        if library is not None:
            start, end = np.empty_like(gap), np.empty_like(gap)
            library.words_spans(*native.addresses(gap, length, bounds), len(bounds) - 1, *native.addresses(start, end))
            return {"start": start, "end": end}
        gap = (gap >> 1) ^ -(gap & 1)
        begins = np.cumsum(gap + np.append(0, length)[:-1], dtype=np.int64)
        heads = np.minimum(bounds[:-1], len(gap) - 1)
        begins -= np.repeat((begins - gap)[heads], np.diff(bounds)) if len(gap) else 0
        return {"start": begins.astype(np.int32), "end": (begins + length).astype(np.int32)}

    def _elements(self) -> dict[str, NDArray[Any]]:
        pairs = zip(self.segments, self._bases, strict=True)
        first = joined([segment.numbers("first", base, sums=True) for segment, base in pairs])
        return {"first": first, "last": first + self._numbers("size")}

    def _tree(self) -> dict[str, NDArray[Any]]:
        depth, first, last, library = self["depth"], self["first"], self["last"], native.library()
        parent, element = np.empty(len(depth), np.int32), np.empty(self.counted("kept"), np.int32)
        if library is not None:
            sound = library.words_parents(*native.addresses(depth), len(depth), *native.addresses(parent))
            where = (*native.addresses(first, last, parent), len(depth), len(element), *native.addresses(element))
            if not (sound and library.words_deepest(*where)):
                raise CollectionError("damaged index of words: expected elements inside each other", at=self.index.name)
            return {"parent": parent, "element": element}
        for level in range(1, int(depth.max(initial=0)) + 1):
            above = np.maximum.accumulate(np.where(depth == level - 1, np.arange(len(depth)), -1))
            parent[depth == level] = above[depth == level]
        return {"parent": parent}  # compiled code alone counts by elements

    @cached_property
    def words_of_language(self) -> Language:
        """What makes terms of a query's words."""
        return Language(self.language)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """The root element of every document."""
        return self.index.element_bounds[:-1]

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Kept words of every element."""
        return np.asarray(self["last"] - self["first"])

    def occurrences(self, term: str) -> NDArray[np.int32]:
        """Return the numbers of the kept words that are a term, ascending."""
        pairs = zip(self.segments, self._bases, strict=True)
        return joined([segment.occurrences(term, base) for segment, base in pairs])


def joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one after the other; most collections have one segment, which is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def open_words(
    index: Index, language: str, jobs: int = 1, progress: Progress | None = None, workers: Workers | None = None
) -> IndexedWords:
    """Return the words of a collection; the first time they are made, which reads all of its texts."""
    check_language(language)
    make = partial(build_words, index, language, jobs=jobs, progress=progress, workers=workers)
    if not isinstance(index.blocks, MappedBlocks):
        known = _IN_MEMORY.setdefault(index, {})
        if language not in known:
            known[language] = _in_memory(index, language, progress)
        return known[language]
    folder = index.blocks.folder / f"words-{language}"
    if isinstance(folder, Remote):
        try:
            made = (folder / "words.json").is_file() or _made_remotely(folder, make)
        except RemoteError as error:
            raise CollectionError(f"index of words: {error.strerror}", at=error.filename, remedy="try again") from None
        cache = index.blocks.cache
        fetch = partial(cache.fetch, opened=_mapped) if cache else Remote.read_bytes
        find: Find = lambda name: fetch(folder / name)  # noqa: E731  of two kinds
    else:
        made, find = folder.is_dir() or _made(folder, make), lambda name: _mapped(folder / name)
    if not made:  # nobody may write there: they are not kept
        return _in_memory(index, language, progress)
    return index.blocks.still(partial(_opened, index, language, str(folder), find, stored=True))


def _mapped(file: Path) -> Any:
    return pa.memory_map(str(file)).read_buffer() if file.stat().st_size else b""


def _in_memory(index: Index, language: str, progress: Progress | None) -> IndexedWords:
    files: dict[str, Any] = {}
    build_words(index, language, files.__setitem__, 1, progress)
    return _opened(index, language, index.name, files.__getitem__)


def _made(folder: Path, make: Callable[..., None]) -> bool:
    """Make the folder, whole or not at all; return whether it is there, which it is not where nobody may write."""
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent)).absolute()
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            return False
        raise
    try:
        make(put=partial(keep_in, str(scratch)))
        for file in scratch.iterdir():
            sync(file)  # a name that appears before its content would be taken for a whole index
        scratch.chmod(0o755)
        try:
            scratch.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def _made_remotely(folder: Remote, make: Callable[..., None]) -> bool:
    """Make the files where they are kept, ``words.json`` last; return whether that is allowed."""
    try:
        make(put=partial(keep_in, str(folder)))
    except RemoteError as error:
        if error.errno != errno.EACCES:
            raise
        return False
    return True


def _opened(index: Index, language: str, folder: str, find: Find, *, stored: bool = False) -> IndexedWords:
    """Open the words that lie beside an index; others than this collection's, and of this program, are refused."""
    remedy = f"remove {folder}, it will be made again"
    try:
        metadata = json.loads(content := bytes(find("words.json")))
        found = metadata["version"], metadata["stemmer"], metadata["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        what = "expected an index of words, found no readable words.json"
        raise CollectionError(what, at=folder, remedy=remedy) from None
    if found[2] != index.sha256:
        what = "expected the words of this collection, found those of another one"
        raise CollectionError(what, at=folder, remedy=remedy)
    if found[:2] != (VERSION, stemmer_version(language)):
        expected = f"version {VERSION} {stemmer_version(language)}".strip()
        what = f"expected an index of words of {expected}, found version {found[0]} {found[1]}".strip()
        raise CollectionError(what, at=folder, remedy=remedy)
    try:
        made = unsealed(content)["segments"]
    except ValueError as error:
        raise CollectionError(f"damaged index of words: {error}", at=folder, remedy=remedy) from None
    segments = tuple(WordSegment(number, counts, find, folder) for number, counts in enumerate(made))
    return IndexedWords(index, language, tuple(metadata["tags"]), segments, stored)
