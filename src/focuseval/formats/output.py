"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def write_whole(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write pieces to a temporary sibling and move it into place; ``-`` is standard output.

    Everything is produced before standard output sees its first byte, so that a refusal leaves it empty too.
    """
    if str(path) == "-":
        whole = b"".join(pieces)
        sys.stdout.buffer.write(whole)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise FormatError(
            f"cannot be written: {error.strerror}", at=str(path), remedy="make room, or choose another place"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except OSError as error:
        raise FormatError(
            f"cannot be written: {error.strerror}", at=str(path), remedy="make room, or choose another place"
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)


def write_folder(path: str | Path, files: Mapping[str, Iterable[bytes]]) -> None:
    """Write several files into a new folder that appears whole, or not at all; an empty folder may be there."""
    target = Path(path)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
            fresh = Path(scratch) / target.name
            fresh.mkdir()
            for name, pieces in files.items():
                write_whole(fresh / name, pieces)
            fresh.replace(target)
    except OSError as error:
        raise FormatError(
            f"cannot be written: {error.strerror}", at=str(path), remedy="name a folder that does not exist or is empty"
        ) from error


def _umask() -> int:
    """Return the process's mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
