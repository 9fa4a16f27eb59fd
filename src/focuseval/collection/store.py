"""An index on disk: a folder of memory-mapped Arrow files.

::

    metadata.json       version, counts, the collection's hash, the size of every file
    documents.arrow     a row per document: id, file, bytes, length, sha256, elements, nodes
    blocks.arrow        a row per block: which part and batch holds it, how many documents, its tags
    part-0.arrow …      one file per block, one record batch in it: texts, elements, text nodes

Workers write the blocks, so nothing large passes between processes; a block's number is its place in the source.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.block import DOCUMENT, SCHEMA, Block
from focuseval.collection.index import Index
from focuseval.errors import CollectionError
from focuseval.lazy import cached_property
from focuseval.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

_SYNCED = 8
"""Files that are pushed to the disk at once."""

VERSION = 1
"""Changes whenever an older index cannot be read any more."""

DOCUMENTS = pa.schema([*DOCUMENT.items(), ("elements", pa.int64()), ("nodes", pa.int64())])
BLOCKS = pa.schema(
    [("part", pa.int32()), ("batch", pa.int32()), ("documents", pa.int64()), ("tags", pa.list_(pa.string()))]
)


def write_block(block: Block, path: Path) -> None:
    """Write a block into a file of its own."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_batch(block.batch)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name != "posix":  # elsewhere only an open writer may ask for it
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class MappedBlocks:
    """The blocks of an index on disk, mapped when they are first asked for."""

    folder: Path
    table: Any

    def __len__(self) -> int:
        """Return the number of blocks."""
        return int(self.table.num_rows)

    def __getitem__(self, number: int) -> Block:
        """Map one block."""
        if number not in self._seen:
            part, batch, _, tags = (column[number].as_py() for column in self.table.columns)
            self._seen[number] = Block(self._part(part).get_batch(batch), tuple(tags))
        return self._seen[number]

    @cached_property
    def _seen(self) -> dict[int, Block]:
        return {}

    @cached_property
    def _parts(self) -> dict[int, Any]:
        return {}

    def _part(self, number: int) -> Any:
        if number not in self._parts:
            self._parts[number] = pa.ipc.open_file(pa.memory_map(str(self.folder / f"part-{number}.arrow")))
        return self._parts[number]


def finish(folder: Path, blocks: Iterable[dict[str, Any]], metadata: dict[str, Any]) -> None:
    """Write the tables that make a folder of parts an index; `metadata.json` comes last."""
    table = pa.Table.from_pylist(list(blocks), BLOCKS)
    with pa.ipc.new_file(str(folder / "blocks.arrow"), BLOCKS) as writer:
        writer.write_table(table)
    mapped = MappedBlocks(folder, table)
    with pa.ipc.new_file(str(folder / "documents.arrow"), DOCUMENTS) as writer:
        for number in range(len(mapped)):
            writer.write_batch(document_rows(mapped[number]))
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.arrow"))}
    with ThreadPoolExecutor(_SYNCED) as pool:
        list(pool.map(lambda name: sync(folder / name), sizes))
    content = json.dumps({"version": VERSION, **metadata, "files": sizes}, indent=1)
    (folder / "metadata.json").write_text(content + "\n", encoding="utf-8")
    sync(folder / "metadata.json")


def document_rows(block: Block) -> Any:
    """Return a block's rows of the table of documents."""
    batch = block.batch
    counts = [pc.list_value_length(batch.column(name)) for name in ("elements", "nodes")]
    return pa.RecordBatch.from_arrays([*(batch.column(name) for name in DOCUMENT), *counts], schema=DOCUMENTS)


def read_metadata(path: Path) -> dict[str, Any]:
    """Read an index's metadata, and check that its files are whole."""
    remedy = "make one with 'focuseval index'"
    try:
        metadata: dict[str, Any] = json.loads((path / "metadata.json").read_text(encoding="utf-8"))
        version, files = metadata["version"], metadata["files"]
        wrong = [name for name, size in files.items() if (path / name).stat().st_size != size]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise CollectionError(
            "expected an index, found no readable metadata.json", at=str(path), remedy=remedy
        ) from None
    if version != VERSION:
        raise CollectionError(f"expected an index of version {VERSION}, found {version}", at=str(path), remedy=remedy)
    if wrong:
        raise CollectionError(f"damaged index: {wrong[0]} has changed its size", at=str(path), remedy=remedy)
    return metadata


def open_index(path: str | Path) -> Index:
    """Open an index made by `build_index` or ``focuseval index``; texts and elements are mapped as they are needed."""
    folder = Path(path)
    metadata = read_metadata(folder)
    try:
        documents, table = (
            pa.ipc.open_file(pa.memory_map(str(folder / name))).read_all()
            for name in ("documents.arrow", "blocks.arrow")
        )
    except (OSError, pa.ArrowInvalid) as error:
        raise CollectionError(f"damaged index: {error}", at=str(folder), remedy="make it again") from None
    first = np.append(0, np.cumsum(table.column("documents").to_numpy()))
    return Index(
        documents, MappedBlocks(folder, table), first.astype(np.int64), metadata["sha256"], str(folder), metadata
    )
