"""The index of words of a collection on object storage: made there once, and read from local copies."""

from __future__ import annotations

import errno
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from focuseval.engine.storage import Cache, RemoteError
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.engine.storage import Remote

    Find = Callable[[str, Callable[[Path], Any]], Any]
    """Opens a file of the words, by its name and how."""

_UNBOUNDED = 1 << 62


@contextmanager
def copies(folder: Remote, make: Callable[..., None], cache: Cache | None, *, shared: bool) -> Iterator[Find]:
    """Give a function that opens a local copy of a file of the folder, which is made first if it is not there.

    `make` writes the files into a local folder; with `shared` workers on other machines lay their part down on the
    store. Where nobody may write to the store, the files that were made are used and not kept.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="focuseval-") as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            if not (folder / "words.json").is_file() and not _made(folder, make, made, shared=shared):
                yield lambda name, opened: opened(made / name)
                return
            held = cache or Cache(scratch, _UNBOUNDED)
            yield lambda name, opened: held.fetch(folder / name, opened)
    except RemoteError as error:
        raise CollectionError(f"index of words: {error.strerror}", at=error.filename, remedy="try again") from None


def _made(folder: Remote, make: Callable[..., None], local: Path, *, shared: bool) -> bool:
    """Make the files and store them, ``words.json`` last; return whether that was allowed."""
    from focuseval.engine.storage import delete_folder  # noqa: PLC0415  loads Arrow's file systems

    scratch = folder.parent / f"{folder.name}-{uuid4().hex[:8]}.partial" if shared else None
    try:
        make(local, scratch=scratch)
    finally:
        if scratch is not None:
            delete_folder(scratch)
    files = sorted((file for file in local.iterdir()), key=lambda file: (file.name == "words.json", file.name))
    try:
        for file in files:
            with pa.memory_map(str(file)) as source:
                (folder / file.name).write_bytes(source.read_buffer())
    except RemoteError as error:
        if error.errno != errno.EACCES:
            raise
        return False
    return True
