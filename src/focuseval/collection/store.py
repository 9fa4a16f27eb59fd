"""An index as it is stored: a folder of Arrow files, mapped into memory from a disk, fetched from object storage.

::

    metadata.json       version, counts, the collection's hash, the size of every file, checksums of it and the next two
    documents.arrow     a row per document: id, file, bytes, length, sha256, elements, nodes
    blocks.arrow        a row per block: which part and batch holds it, how many documents, its tags, its checksum
    part-0.arrow …      one file per block, one record batch in it: texts, elements, text nodes

A file is read once for its checksum when it is opened, so that no byte is believed that was not written (decision 21).
Workers write the blocks, so nothing large passes between processes; a block's number is its place in the source. On
object storage, where a folder cannot be renamed, all but ``metadata.json`` stands in a folder ``blocks-…`` that it
names; so an index appears, or takes another one's place, at the moment when ``metadata.json`` is written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.block import DOCUMENT, Block
from focuseval.collection.index import Index
from focuseval.engine.files import Cache, cache_from_environment, checksum, sealed, sync, unsealed
from focuseval.engine.storage import Location, Remote, RemoteError, location
from focuseval.errors import CollectionError

T = TypeVar("T")

_HELD = 16  # blocks of object storage that are kept in memory where no cache is given
SCRATCH = "scratch"  # the folder, in an index that is being made, of all that does not belong to it
VERSION = 3  # changes whenever an older index cannot be read any more
DOCUMENTS = pa.schema([*DOCUMENT.items(), ("elements", pa.int64()), ("nodes", pa.int64())])
BLOCKS = pa.schema(
    {"part": pa.int32(), "batch": pa.int32(), "documents": pa.int64(), "tags": pa.list_(pa.string()), "crc": pa.int64()}
)


def part_name(number: int) -> str:
    """Return the name of a block's file."""
    return f"part-{number}.arrow"


def write_arrow(batch: Any, file: Location) -> tuple[int, int]:
    """Write a record batch into a file of its own; return its size and its checksum."""
    if isinstance(file, Remote):
        content = pa.BufferOutputStream()
        with pa.ipc.new_file(content, batch.schema) as writer:
            writer.write_batch(batch)
        whole = content.getvalue()
        file.write_bytes(whole)
        return int(whole.size), crc32(whole)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return file.stat().st_size, checksum(file)


@dataclass(frozen=True)
class MappedBlocks(Sequence[Block]):
    """The blocks of a stored index, mapped or fetched when they are asked for."""

    root: Location  # the index
    folder: Location  # where its blocks are
    table: Any
    cache: Cache | None = None
    version: tuple[int, ...] = ()  # which folder on the disk was opened: another one of the same name is another index
    _lock: Any = field(default_factory=RLock, compare=False, repr=False)
    _seen: dict[int, Block] = field(default_factory=dict, compare=False, repr=False)
    """Blocks that are open, by their parts; those of a slice are those of the whole."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return replace(self, table=self.table[number])
        with self._lock:
            part = self.table.column("part")[number].as_py()
            if part not in self._seen:
                _, batch, _, tags, check = (column[number].as_py() for column in self.table.columns)
                self._seen[part] = Block(self._part(part, check).get_batch(batch), tuple(tags))
                if isinstance(self.folder, Remote) and self.cache is None and len(self._seen) > _HELD:
                    self._seen.pop(next(iter(self._seen)))
            return self._seen[part]

    @property
    def tags(self) -> list[list[str]]:
        """The tags of every block; none of them is opened."""
        return list(self.table.column("tags").to_pylist())

    def release(self, number: int) -> None:
        """Forget a block, where one reads all of them: what was mapped counts as memory until it is let go."""
        with self._lock:
            self._seen.pop(self.table.column("part")[number].as_py(), None)

    def still(self, opened: Callable[[], T]) -> T:
        """Return what is opened of the index, unless another one has taken its place since the index was opened."""
        found: T | CollectionError
        try:
            found = opened()
        except (FileNotFoundError, CollectionError) as error:
            missing = CollectionError("damaged index: a file is missing", at=str(self.root), remedy="make it again")
            found = error if isinstance(error, CollectionError) else missing
        if _version(self.root) != self.version:
            what = "the index was replaced while it was read"
            raise CollectionError(what, at=str(self.root), remedy="start again, to read the new one")
        if isinstance(found, CollectionError):
            raise found
        return found

    def _part(self, number: int, check: int) -> Any:
        file, opened = self.folder / part_name(number), partial(_opened, check=check)
        if isinstance(file, Path):
            return self.still(partial(opened, file))
        try:
            return opened(file) if self.cache is None else self.cache.fetch(file, opened)
        except RemoteError as error:
            raise CollectionError(f"cannot read: {error.strerror}", at=str(file), remedy="try again") from None


def _version(folder: Location) -> tuple[int, ...]:
    """Return what tells an index on the disk from another one of the same name; others have folders of their own."""
    with suppress(OSError):
        if isinstance(folder, Path):
            stat = (folder / "metadata.json").stat()
            return stat.st_dev, stat.st_ino, stat.st_mtime_ns
    return ()


def _opened(file: Location, check: int) -> Any:
    """Open an Arrow file whose bytes are those that were written."""
    mapped = pa.memory_map(str(file)).read_buffer() if isinstance(file, Path) else pa.py_buffer(file.read_bytes())
    if crc32(mapped) != check:
        raise CollectionError("damaged index: other bytes than were written", at=str(file), remedy="make it again")
    return pa.ipc.open_file(mapped)


@contextmanager
def documents_table(folder: Location, checks: dict[str, int]) -> Iterator[Callable[[Any], None]]:
    """Give a function that adds rows to ``documents.arrow``, whose checksum is noted; to a store it goes as a whole."""
    if isinstance(folder, Path):
        with pa.ipc.new_file(str(folder / "documents.arrow"), DOCUMENTS) as writer:
            yield writer.write_batch
        checks["documents.arrow"] = checksum(folder / "documents.arrow")
        return
    with tempfile.TemporaryDirectory(prefix="focuseval-") as scratch:
        local = Path(scratch) / "documents.arrow"
        with documents_table(local.parent, checks) as add:
            yield add
        with pa.memory_map(str(local)) as source:
            (folder / "documents.arrow").write_bytes(source.read_buffer())


def finish(root: Location, folder: Location, blocks: Iterable[dict[str, Any]], metadata: dict[str, Any]) -> None:
    """Write the table that makes an index of a folder, whose parts are on the disk, and last ``metadata.json``."""
    table = pa.Table.from_pylist(list(blocks), BLOCKS).combine_chunks()
    metadata["checksums"]["blocks.arrow"] = write_arrow(table.to_batches()[0], folder / "blocks.arrow")[1]
    wanted = {"documents.arrow", "blocks.arrow", *map(part_name, table.column("part").to_pylist())}
    sizes = {file.name: file.stat().st_size for file in folder.iterdir() if file.name in wanted}
    if missing := wanted - set(sizes):
        what = f"{min(missing)} has vanished; does another program write here?"
        raise CollectionError(what, at=str(folder), remedy="make the index again")
    inner = {"folder": folder.name} if isinstance(folder, Remote) else {}
    content = {"version": VERSION, **metadata, **inner, "files": dict(sorted(sizes.items()))}
    if isinstance(folder, Path):
        sync(folder / "documents.arrow")
        sync(folder / "blocks.arrow")
        root = folder
    (root / "metadata.json").write_bytes(sealed(content))
    if isinstance(root, Path):
        sync(root / "metadata.json")


def document_rows(block: Block) -> Any:
    """Return a block's rows of the table of documents."""
    batch = block.batch
    counts = [pc.list_value_length(batch.column(name)) for name in ("elements", "nodes")]
    return pa.RecordBatch.from_arrays([*(batch.column(name) for name in DOCUMENT), *counts], schema=DOCUMENTS)


def is_index(path: str | Location) -> bool:
    """Say whether a folder is an index."""
    place = location(path)
    if not (place / "metadata.json").is_file():
        return False
    return isinstance(place, Remote) or (_folder(place, stored(place)) / "documents.arrow").is_file()


def stored(place: Location) -> dict[str, Any]:
    """Return what an index of any version says of itself, unchecked; nothing where there is none."""
    try:
        found = json.loads((place / "metadata.json").read_bytes())
    except (ValueError, FileNotFoundError, NotADirectoryError):
        return {}
    return found if isinstance(found, dict) else {}


def _folder(place: Location, metadata: dict[str, Any]) -> Location:
    """Return where the files of an index are."""
    inner = metadata.get("folder")
    return place / inner if isinstance(inner, str) and inner and "/" not in inner and inner != ".." else place


def read_metadata(path: Location) -> dict[str, Any]:
    """Read an index's metadata, and check that its files are whole."""
    remedy = "make one with 'focuseval index'"
    try:
        metadata = stored(path)
        version, files, folder = metadata["version"], metadata["files"], _folder(path, metadata)
        if version == VERSION:
            unsealed((path / "metadata.json").read_bytes())
        if isinstance(folder, Remote):  # a request lists a thousand
            sizes = {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}
        else:
            sizes = {name: (folder / name).stat().st_size for name in files}
        wrong = [name for name, size in files.items() if sizes.get(name) != size]
    except RemoteError as error:
        raise CollectionError(f"cannot read: {error.strerror}", at=str(path), remedy="try again") from None
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        what = "expected an index, found no readable metadata.json"
        raise CollectionError(what, at=str(path), remedy=remedy) from None
    if version != VERSION:
        raise CollectionError(f"expected an index of version {VERSION}, found {version}", at=str(path), remedy=remedy)
    if wrong:
        raise CollectionError(f"damaged index: {wrong[0]} has changed its size", at=str(path), remedy=remedy)
    return metadata


def open_index(path: str | Location, cache: Cache | None = None) -> Index:
    """Open an index made by `build_index` or ``focuseval index``, by path or URL.

    Texts and elements are mapped as they are needed; from object storage they are fetched a block at a time, into
    `cache` or the one that the environment names (``FOCUSEVAL_CACHE``), else into memory.
    """
    root = location(path)
    while True:
        version = _version(root)
        try:
            opened = _open(root, version, cache)
        except CollectionError:
            if _version(root) == version:
                raise
        else:
            if _version(root) == version:  # else another index took its place meanwhile
                return opened


def _open(root: Location, version: tuple[int, ...], cache: Cache | None) -> Index:
    metadata = read_metadata(root)
    folder = _folder(root, metadata)
    try:
        checks = metadata["checksums"]
        documents, table = (_opened(folder / n, checks[n]).read_all() for n in ("documents.arrow", "blocks.arrow"))
    except (OSError, pa.ArrowInvalid) as error:
        what = f"damaged index: {getattr(error, 'strerror', None) or error}"
        raise CollectionError(what, at=str(root), remedy="make it again") from None
    first = np.append(0, np.cumsum(table.column("documents").to_numpy()))
    if isinstance(root, Remote) and cache is None:
        cache = cache_from_environment()
    blocks = MappedBlocks(root, folder, table, cache, version)
    reopen = open_index, (str(root.absolute()), cache)
    return Index(documents, blocks, first.astype(np.int64), metadata["sha256"], str(root), metadata, reopen=reopen)
