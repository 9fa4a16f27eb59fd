"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.engine.storage import is_url, local_path, location
from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_EXISTS = "choose another name, or replace it with --force"


def write_whole(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write pieces to a temporary sibling and move it into place; ``-`` is standard output.

    Everything is produced before standard output sees its first byte, so that a refusal leaves it empty too.
    """
    if str(path) == "-":
        whole = b"".join(pieces)
        sys.stdout.buffer.write(whole)
        sys.stdout.buffer.flush()
        return
    if is_url(path):
        _write_remote(str(path), {"": pieces})
        return
    with _written(path, "make room, or choose another place"):
        _write(local_path(path), pieces)


def write_folder(path: str | Path, files: Mapping[str, Iterable[bytes]], *, replace: bool = False) -> None:
    """Write several files into a new folder that appears whole, or not at all; an empty folder may be there.

    With `replace` it takes the place of a folder that holds nothing but XML files.
    """
    if is_url(path):
        _write_remote(str(path), files, replace=replace)
        return
    target = local_path(path)
    if target.is_dir() and any(target.iterdir()):
        other = next((file for file in target.iterdir() if file.suffix != ".xml" or not file.is_file()), None)
        if not replace:
            raise FormatError("exists already", at=str(target), remedy=_EXISTS)
        if other is not None:
            what = f"expected a folder of assessments, found {other.name!r} in it"
            raise FormatError(what, at=str(target), remedy="choose another name")
    with (
        _written(path, "name a folder that does not exist or is empty, where there is room"),
        tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch,
    ):
        fresh = Path(scratch) / target.name
        fresh.mkdir()
        for name, pieces in files.items():
            _write(fresh / name, pieces)
        if target.is_dir():
            target.rename(Path(scratch) / "before")  # it goes with the scratch
        fresh.replace(target)


def _write_remote(url: str, files: Mapping[str, Iterable[bytes]], *, replace: bool = True) -> None:
    """Write a file, or the files of a folder, to object storage; the content of all is made before the first."""
    target = location(url)
    if not replace and target.is_dir():
        raise FormatError("exists already", at=url, remedy=_EXISTS)
    contents = {name: b"".join(pieces) for name, pieces in files.items()}
    with _written(url, "choose another place, or try again"):
        for name, content in contents.items():
            (target / name if name else target).write_bytes(content)


@contextmanager
def _written(path: str | Path, remedy: str) -> Iterator[None]:
    """Turn what the system says of a failed write into one line that names what the user named."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=str(path), remedy=remedy) from error


def _write(target: Path, pieces: Iterable[bytes]) -> None:
    """Write one file, by way of a sibling; a device or a pipe, which nothing may take the place of, directly.

    A link stays one: the file that it leads to is written.
    """
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    if target.is_symlink():
        target = Path(os.path.realpath(target))
        if target.is_symlink():  # it leads back to itself
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)  # it can only be read by setting it
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
