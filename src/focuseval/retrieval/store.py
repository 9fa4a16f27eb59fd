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

A segment is a run of blocks with `TEXT` characters, or one block with more. Whoever makes one holds its columns in
memory and writes its files, so memory does not grow with the collection, and nothing of it passes between processes.
"""

from __future__ import annotations

import errno
import json
import tempfile
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.block import Block, recoded
from focuseval.collection.boundaries import cut_block
from focuseval.collection.index import Index
from focuseval.collection.store import MappedBlocks
from focuseval.data.spans import pack
from focuseval.engine import native
from focuseval.engine.files import sealed, sync, unsealed
from focuseval.engine.lazy import cached_property
from focuseval.engine.storage import Location, Remote, RemoteError, location
from focuseval.engine.workers import Workers, given
from focuseval.errors import CollectionError
from focuseval.retrieval.terms import Language, check_language, stemmer_version

Find = Callable[[str], Any]  # returns the content of a file of the words, by its name
Progress = Callable[..., None]
Put = Callable[[str, Any], None]  # keeps a file of the words, by its name and content

VERSION = 3  # changes whenever words are cut or laid down in another way
TEXT = 80_000_000  # characters of a segment
MOST = 2**31 - 1  # words and elements that are opened together: what 32-bit numbers can count
_KNOWN = 400_000  # words whose terms a worker knows, at most, when it begins a segment


@cache
def _language(name: str, thread: int) -> list[Language]:  # noqa: ARG001  threads of a worker must not count words at once
    """Return a language that this thread goes on using: the words of one segment are known in the next."""
    return [Language(name)]


def place(block: Block, start: NDArray[np.int32], kept: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Return every element's first kept word, and past its last."""
    columns = [np.ascontiguousarray(block.element(name), np.int32) for name in ("start", "end", "parent")]
    bounds, library = np.ascontiguousarray(block.element_bounds), native.library()
    if library is None:
        begins, ends, _ = (column[bounds[0] : bounds[-1]] for column in columns)
        document, of_word = (np.repeat(np.arange(len(bounds) - 1), np.diff(edges)) for edges in (bounds, kept))
        low, high = (np.searchsorted(pack(of_word, start), pack(document, edge)) for edge in (begins, ends))
        return [low.astype(np.int32), np.maximum(low, high).astype(np.int32)]
    found = [np.zeros(int(bounds[-1]), np.int32) for _ in range(2)]
    others = native.addresses(*columns, *found)
    if not library.words_place(*native.addresses(start, kept, bounds), len(bounds) - 1, *others):
        what = "expected elements inside each other, found others"
        raise CollectionError(what, remedy="the index is damaged: build it again")
    return [column[bounds[0] :] for column in found]


def build_segment(
    index: Index, name: str, tags: list[str], put: Put, numbered: tuple[int, tuple[int, int]]
) -> dict[str, Any]:
    """Read the words of some blocks and keep them as a segment; return its counts, and the checksums of its files."""
    number, (begin, end) = numbered
    held = _language(name, get_ident())
    if len(held[0].known) > _KNOWN:
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
    names, packed, begins = _posted(language, term)
    whole = {column: b"".join(parts) for column, parts in contents.items()}
    whole["kept"] = np.packbits(np.frombuffer(whole["kept"], np.bool_)).tobytes()
    whole |= {"postings": native.pack(np.diff(begins))[0].tobytes(), "terms": "\n".join(names).encode()}
    whole["occurrences"], files = packed.tobytes(), dict[str, list[int]]()
    for column, content in whole.items():
        written = content if column == "occurrences" else pa.compress(content, "zstd", asbytes=True)
        files[column] = [len(content), crc32(written)]
        put(f"{number}-{column}", written)
    return {"blocks": end - begin, "words": words, "kept": kept, "terms": len(names), "files": files}


def _posted(language: Language, term: NDArray[np.int32]) -> tuple[list[str], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the terms of kept words in the order of their bytes, the words that have each, and where these begin."""
    counts = np.bincount(term, minlength=len(language.terms))
    used = sorted(np.flatnonzero(counts).tolist(), key=lambda code: language.terms[code].encode())
    rank = np.zeros(len(counts), np.int32)
    rank[used] = np.arange(len(used))
    np.take(rank, term, out=term)  # the terms' numbers are lost: a segment has many of them
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
    index: Index, language: str, *, put: Put, jobs: int, progress: Progress | None, workers: Workers | None = None
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
    about = {"version": VERSION, "language": language, "stemmer": stemmer_version(language), "sha256": index.sha256}
    put("words.json", sealed(about | {"tags": tags, "segments": made}))


def keep_in(folder: str, name: str, content: Any) -> None:
    """Keep a file in a folder, which may be on object storage."""
    (location(folder) / name).write_bytes(content)


_IN_MEMORY: WeakKeyDictionary[Index, dict[str, dict[str, Any]]] = WeakKeyDictionary()
"""The words of collections that lie on no disk, by language, while somebody holds the collection: they do not."""


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


@dataclass(frozen=True, eq=False)
class IndexedWords:
    """The words of a collection in one language.

    Columns of words: ``start``, ``end``; of documents: ``word_bounds``, where their words begin, with the end of the
    last; of kept words: ``word``, the number among all, and ``element``, the deepest around it; of elements: ``first``
    and ``last``, the first kept word and past the last, ``size``, how many, ``parent``, ``depth``, ``tag``.
    """

    index: Index
    language: str
    tags: tuple[str, ...]
    segments: tuple[WordSegment, ...]
    stored: bool = False  # whether they lie beside the index, where other processes find them
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
            two = {"start": self._spans, "end": self._spans, "parent": self._tree, "element": self._tree}.get(name)
            self._columns.update({name: self._single(name)} if two is None else two())
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
        return joined([native.unpack(segment.content(name)) for segment in self.segments])

    def _single(self, name: str) -> NDArray[Any]:
        """Return a column that is made by itself."""
        if name == "word_bounds":
            return np.append(0, np.cumsum(self._numbers("documents"), dtype=np.int64))
        if name == "word":
            bits = [np.unpackbits(segment.content("kept"), count=segment.counts["words"]) for segment in self.segments]
            return np.flatnonzero(joined(bits).view(np.bool_)).astype(np.int32)
        if name == "first":
            pairs = zip(self.segments, self._bases, strict=True)
            return joined([native.unpack(segment.content(name), base, sums=True) for segment, base in pairs])
        if name == "last":
            return np.asarray(self["first"] + self["size"])
        return self._numbers(name).astype(np.int16 if name == "depth" else np.int32, copy=False)

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
            words = _opened(index, language, index.name, _in_memory(index, language, progress).__getitem__)
            known[language] = {"tags": words.tags, "segments": words.segments, "_columns": words._columns}  # noqa: SLF001
        return IndexedWords(index, language, **known[language])
    folder, cache = index.blocks.folder / f"words-{language}", index.blocks.cache
    fetch: Callable[[Any], Any] = _mapped
    try:
        if isinstance(folder, Remote):
            fetch = partial(cache.fetch, opened=_mapped) if cache else Remote.read_bytes
            made = (folder / "words.json").is_file() or _made(folder, make)
        else:
            made = folder.is_dir() or _made(folder, make)
    except RemoteError as error:
        raise CollectionError(f"index of words: {error.strerror}", at=error.filename, remedy="try again") from None
    if not made:  # nobody may write there: they are not kept
        return _opened(index, language, index.name, _in_memory(index, language, progress).__getitem__)
    find: Find = lambda name: fetch(folder / name)  # noqa: E731  of three kinds
    return index.blocks.still(partial(_opened, index, language, str(folder), find, stored=True))


def _mapped(file: Path) -> Any:
    return pa.memory_map(str(file)).read_buffer() if file.stat().st_size else b""


def _in_memory(index: Index, language: str, progress: Progress | None) -> dict[str, Any]:
    files: dict[str, Any] = {}
    build_words(index, language, put=files.__setitem__, jobs=1, progress=progress)
    return files


def _made(folder: Location, make: Callable[..., None]) -> bool:
    """Make the folder, whole or not at all; return whether it is there, which it is not where nobody may write."""
    try:
        if isinstance(folder, Remote):  # where nothing can be renamed: ``words.json`` comes last
            make(put=partial(keep_in, str(folder)))
            return True
        scratch = tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent, ignore_cleanup_errors=True)
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            return False
        raise
    with scratch as name:
        whole = Path(name).absolute()
        make(put=partial(keep_in, str(whole)))
        for file in whole.iterdir():
            sync(file)  # a name that appears before its content would be taken for a whole index
        whole.chmod(0o755)
        try:
            whole.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    return True


def _opened(index: Index, language: str, folder: str, find: Find, *, stored: bool = False) -> IndexedWords:
    """Open the words that lie beside an index; others than this collection's, and of this program, are refused."""
    expected, what = (VERSION, stemmer_version(language)), ""
    try:
        metadata = json.loads(content := bytes(find("words.json")))
        found, collection = (metadata["version"], metadata["stemmer"]), metadata["sha256"]
        if collection != index.sha256:
            what = "expected the words of this collection, found those of another one"
        elif found != expected:
            numbers = (" ".join(map(str, some)).strip() for some in (expected, found))
            what = "expected an index of words of version {}, found version {}".format(*numbers)
    except (OSError, ValueError, KeyError, TypeError):
        what = "expected an index of words, found no readable words.json"
    try:
        made = [] if what else unsealed(content)["segments"]
    except ValueError as error:
        what = f"damaged index of words: {error}"
    if what:
        raise CollectionError(what, at=folder, remedy=f"remove {folder}, it will be made again")
    segments = tuple(WordSegment(number, counts, find, folder) for number, counts in enumerate(made))
    return IndexedWords(index, language, tuple(metadata["tags"]), segments, stored)
