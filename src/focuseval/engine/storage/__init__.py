"""Files and folders by path or URL: ``s3://``, ``gs://`` and ``file://`` beside local paths.

`location` turns what a user names into a `Path`, or into a `Remote` that answers to the same methods, so that readers
and writers need not know which of them they have. Without a URL nothing of Arrow's file systems is loaded.
"""

from __future__ import annotations

from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.engine.storage.remote import Remote
from focuseval.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

Location = Path | Remote

SCHEMES = ("s3://", "gs://")

__all__ = ["Location", "Remote", "in_order", "is_url", "local_path", "location"]


def is_url(path: object) -> bool:
    """Say whether a name is a URL of object storage; ``file://`` names a local file.

    >>> is_url("s3://bucket/run.txt"), is_url("run.txt"), is_url("file:///tmp/run.txt")
    (True, False, False)
    """
    return isinstance(path, Remote) or (isinstance(path, str) and path.startswith(SCHEMES))


def local_path(path: str | PathLike[str]) -> Path:
    """Return the path of a local file, of which a ``file://`` URL is another name."""
    place = location(path)
    if isinstance(place, Remote):
        raise UsageError(f"{place}: expected a local file, found a URL; download it first")
    return place


def in_order(files: Iterable[Location]) -> list[Location]:
    """Return files in the order of their names, folder by folder."""
    return sorted(files, key=lambda file: file.parts)


def location(path: str | PathLike[str] | Remote) -> Location:
    """Return where a file or folder is.

    >>> location("run.txt"), str(location("s3://bucket/runs/") / "a.txt")
    (PosixPath('run.txt'), 's3://bucket/runs/a.txt')
    """
    if isinstance(path, (Remote, Path)):
        return path
    path = fspath(path)  # a run that is being read has a name, too
    if "://" not in path:
        return Path(path)
    from focuseval.engine.storage.urls import file_path, split_url  # noqa: PLC0415  paths need none

    if path.startswith("file://"):
        return Path(file_path(path))
    if path.startswith(SCHEMES):
        return Remote(*split_url(path))
    scheme = path.partition("://")[0]
    raise UsageError(f"expected a path, or a URL of s3://, gs:// or file://, found {scheme}://; download it first")
