"""Where an index is made: a folder that becomes the index at the end, and vanishes if anything goes wrong.

On a disk it stands beside the target and is renamed. On object storage it is a folder ``blocks-…`` in the target, which
``metadata.json`` names. What a program left behind that was killed is removed by the next build, or taken up by it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from socket import gethostname
from typing import TYPE_CHECKING

from focuseval.collection.store import SCRATCH, is_index, read_metadata
from focuseval.engine.disk import sync
from focuseval.engine.shared import is_alive, sweep
from focuseval.engine.storage import Remote
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from focuseval.engine.storage import Location

_PARTIAL = ".partial"
_BLOCKS = "blocks-"


def check_target(target: Location, *, force: bool) -> None:
    """Refuse to overwrite anything, except an index when forced."""
    if isinstance(target, Remote):
        _check_remote(target, force=force)
        return
    if not target.parent.is_dir():
        raise CollectionError("no such directory", at=str(target.parent), remedy="make it first")
    if os.path.lexists(target):
        _refuse(target, force=force)
        read_metadata(target)


def _check_remote(target: Remote, *, force: bool) -> None:
    if is_index(target):
        _refuse(target, force=force)
    elif target.is_dir() and (other := next((f for f in target.iterdir() if not _own(f)), None)) is not None:
        what = f"expected no objects there, or an index, found {other.name!r}"
        raise CollectionError(what, at=str(target), remedy="choose another name")


def _refuse(target: Location, *, force: bool) -> None:
    if not force:
        raise CollectionError(
            "exists already", at=str(target), remedy="choose another name, or replace it with --force"
        )


def appearing(target: Location, *, resume: bool = False) -> AbstractContextManager[Location]:
    """Give the folder to work in; `resume` asks for the one that a killed program left."""
    return _on_store(target, resume=resume) if isinstance(target, Remote) else _on_disk(target, resume=resume)


@contextmanager
def _on_disk(target: Path, *, resume: bool) -> Iterator[Path]:
    own = f".{target.name}.{gethostname()}.{os.getpid()}"
    folder, old = target.with_name(own + _PARTIAL), target.with_name(own + ".old")
    if resume and (left := _left_on_disk(target)):
        left.rename(folder)
    sweep(target.parent, f".{target.name}.{gethostname()}.", _PARTIAL)
    (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
    try:
        yield folder
        shutil.rmtree(folder / SCRATCH)
        if resume:
            _remove_others(folder)
        sync(folder)
        if os.path.lexists(target):
            target.rename(old)
        folder.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _left_on_disk(target: Path) -> Path | None:
    """Return the newest folder that a build of this target left, unless its program lives on this machine."""
    found = [
        folder
        for folder in target.parent.iterdir()
        if folder.name.startswith(f".{target.name}.") and folder.name.endswith(_PARTIAL)
        if f".{gethostname()}." not in folder.name or not is_alive(_owner(folder))
    ]
    return max(found, key=lambda folder: folder.stat().st_mtime_ns, default=None)


def _owner(folder: Path) -> str:
    """Return the number of the process that made a folder."""
    return folder.name.removesuffix(_PARTIAL).rpartition(".")[2]


def _remove_others(folder: Path) -> None:
    """Remove what an earlier build made and this one did not need."""
    files = read_metadata(folder)["files"]
    for file in folder.iterdir():
        if file.name not in files and file.name != "metadata.json":
            file.unlink()


@contextmanager
def _on_store(target: Remote, *, resume: bool) -> Iterator[Remote]:
    from time import time_ns  # noqa: PLC0415  only object storage needs it
    from uuid import uuid4  # noqa: PLC0415  as above

    from focuseval.engine.storage.objects import delete_folder  # noqa: PLC0415  as above

    before = read_metadata(target).get("folder") if is_index(target) else None
    left = [folder for folder in _own_folders(target) if folder.name != before]
    fresh = target / f"{_BLOCKS}{time_ns():x}-{uuid4().hex[:6]}"  # names in the order of time
    folder = left.pop() if resume and left else fresh
    for other in left:
        delete_folder(other)
    try:
        yield folder
    except BaseException:
        delete_folder(folder)
        raise
    delete_folder(folder / SCRATCH)
    if before:
        delete_folder(target / before)


def _own(folder: Remote) -> bool:
    return folder.name.startswith(_BLOCKS)


def _own_folders(target: Remote) -> list[Remote]:
    return [folder for folder in target.iterdir() if _own(folder)] if target.is_dir() else []
