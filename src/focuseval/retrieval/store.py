"""The index of words: made once for a language, kept beside the collection's index, mapped into memory.

::

    words-english/
        words.json                       version, language, stemmer, the collection's hash, counts, tags
        terms.arrow                      the terms, in the order of their bytes
        offsets.npy, postings.npy        for every term the numbers of the kept words that have it, ascending
        word.npy, element.npy            of every kept word: its number among all words, the deepest element around it
        start.npy, end.npy               of every word: its code points in its document
        word_bounds.npy                  where every document's words begin, and the end of the last
        first.npy, last.npy              of every element: its first kept word, and past its last
        parent.npy, depth.npy, tag.npy   of every element, numbered through the collection

On object storage it is made there once, and read from local copies.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from bisect import bisect_left
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from focuseval.collection.store import MappedBlocks
from focuseval.engine.files import Cache, checksum, sync, unsealed
from focuseval.engine.lazy import cached_property
from focuseval.engine.storage import Remote, RemoteError, delete_folder
from focuseval.errors import CollectionError
from focuseval.retrieval.build import COLUMNS, VERSION, build_words
from focuseval.retrieval.terms import Language, check_language, stemmer_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.engine.storage import Location
    from focuseval.engine.workers import Workers

    Find = Callable[[str, Callable[[Any], Any]], Any]
    """Opens a file of the words, by its name and how."""
    Progress = Callable[..., None]


@contextmanager
def copies(folder: Remote, make: Callable[..., None], cache: Cache | None, *, shared: bool) -> Iterator[Find]:
    """Give a function that opens a local copy of a file of the folder, which is made first if it is not there."""
    try:
        with tempfile.TemporaryDirectory(prefix="focuseval-") as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            if not (folder / "words.json").is_file() and not _made_remotely(folder, make, made, shared=shared):
                yield lambda name, opened: opened(made / name)  # nobody may write to the store: they are not kept
                return
            held = cache or Cache(scratch, most=1 << 62)
            yield lambda name, opened: held.fetch(folder / name, opened)
    except RemoteError as error:
        raise CollectionError(f"index of words: {error.strerror}", at=error.filename, remedy="try again") from None


def _made_remotely(folder: Remote, make: Callable[..., None], local: Path, *, shared: bool) -> bool:
    """Make the files and store them, ``words.json`` last; return whether that was allowed."""
    scratch = folder.parent / f"{folder.name}-{uuid4().hex[:8]}.partial" if shared else None
    try:
        make(local, scratch=scratch)
    finally:
        if scratch is not None:
            delete_folder(scratch)
    try:
        for file in sorted(local.iterdir(), key=lambda file: (file.name == "words.json", file.name)):
            with pa.memory_map(str(file)) as source:
                (folder / file.name).write_bytes(source.read_buffer())
    except RemoteError as error:
        if error.errno != errno.EACCES:
            raise
        return False
    return True


_IN_MEMORY: WeakKeyDictionary[Index, dict[str, IndexedWords]] = WeakKeyDictionary()
"""The words of collections that lie on no disk, while somebody holds the collection."""


@dataclass(frozen=True, eq=False)
class IndexedWords:
    """The words of a collection in one language; columns as above."""

    index: Index
    language: str
    terms: pa.Array
    tags: tuple[str, ...]
    columns: dict[str, NDArray[Any]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

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

        def name(number: int) -> bytes:
            return bytes(self.terms[number].as_buffer())

        wanted, many = term.encode(), len(self.terms)
        number = bisect_left(range(many), wanted, key=name)
        if number == many or name(number) != wanted:
            return np.zeros(0, np.int32)
        begin, end = self["offsets"][number : number + 2]
        return np.asarray(self["postings"][begin:end])


def open_words(
    index: Index, language: str, jobs: int = 1, progress: Progress | None = None, workers: Workers | None = None
) -> IndexedWords:
    """Return the words of a collection; the first time they are made, which reads all of its texts."""
    check_language(language)
    if not isinstance(index.blocks, MappedBlocks):
        known = _IN_MEMORY.setdefault(index, {})
        if language not in known:
            known[language] = _in_memory(index, language, progress)
        return known[language]
    folder = index.blocks.folder / f"words-{language}"
    make = partial(build_words, index, language, jobs=jobs, progress=progress, workers=workers)
    if isinstance(folder, Remote):
        with copies(folder, make, index.blocks.cache, shared=workers is not None) as find:
            return _opened(index, language, folder, find, mapped=index.blocks.cache is not None)
    if not folder.is_dir() and not _made(folder, make):
        return _in_memory(index, language, progress)
    return index.blocks.still(partial(_opened, index, language, folder))


def _in_memory(index: Index, language: str, progress: Progress | None) -> IndexedWords:
    with tempfile.TemporaryDirectory(prefix="focuseval-") as folder:
        build_words(index, language, Path(folder), 1, progress)
        return _opened(index, language, Path(folder), mapped=False)


def _made(folder: Path, make: Callable[[Path], None]) -> bool:
    """Make the folder, whole or not at all; return whether it is there, which it is not where nobody may write."""
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            return False
        raise
    try:
        make(scratch)
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


def _opened(
    index: Index, language: str, folder: Location, find: Find | None = None, *, mapped: bool = True
) -> IndexedWords:
    """Open the words that lie beside an index; others than this collection's, and of this program, are refused."""
    remedy = f"remove {folder}, it will be made again"
    find = find or (lambda name, opened: opened(folder / name))
    try:
        metadata = json.loads(content := find("words.json", Path.read_bytes))
        found = metadata["version"], metadata["stemmer"], metadata["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        what = "expected an index of words, found no readable words.json"
        raise CollectionError(what, at=str(folder), remedy=remedy) from None
    if found[2] != index.sha256:
        what = "expected the words of this collection, found those of another one"
        raise CollectionError(what, at=str(folder), remedy=remedy)
    if found[:2] != (VERSION, stemmer_version(language)):
        expected = f"version {VERSION} {stemmer_version(language)}".strip()
        what = f"expected an index of words of {expected}, found version {found[0]} {found[1]}".strip()
        raise CollectionError(what, at=str(folder), remedy=remedy)
    try:
        checks, wrong = unsealed(content)["checksums"], list[str]()

        def verified(name: str, opened: Callable[[Path], Any]) -> Any:
            return find(name, lambda path: opened(path) if checksum(path) == checks[name] else wrong.append(name))

        columns = {name: verified(f"{name}.npy", partial(_column, mapped=mapped)) for name in COLUMNS}
        source = verified("terms.arrow", lambda path: pa.memory_map(str(path)) if mapped else pa.OSFile(str(path)))
        terms = None if wrong else pa.ipc.open_file(source).read_all()["term"].combine_chunks()
    except (OSError, ValueError, pa.ArrowInvalid) as error:
        raise CollectionError(f"damaged index of words: {error}", at=str(folder), remedy=remedy) from None
    if wrong:
        what = f"damaged index of words: {min(wrong)} has other bytes than were written"
        raise CollectionError(what, at=str(folder), remedy=remedy)
    return IndexedWords(index, language, terms, tuple(metadata["tags"]), columns)


def _column(path: Path, *, mapped: bool) -> NDArray[Any]:
    """Return a column as a plain array over the mapped file: NumPy's own class for it is slow to cut."""
    small = os.path.getsize(path) < 4096  # noqa: PTH202  twelve files, opened in a millisecond
    return np.asarray(np.load(path, mmap_mode="r" if mapped and not small else None))
