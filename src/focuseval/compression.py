"""Compressed files, told by their first bytes: gzip (several members, too) and zstd."""

from __future__ import annotations

import gzip
import zlib
from typing import TypeVar

from focuseval.errors import FormatError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

Data = TypeVar("Data")
"""Bytes, or a mapped file."""


def unpacked(raw: Data, name: str) -> Data | bytes:
    """Return the content of a file: what it holds if it is compressed, else the file as it is.

    >>> unpacked(gzip.compress(b"topics"), "topics.gz"), unpacked(b"as it is", "topics")
    (b'topics', b'as it is')
    """
    try:
        if raw[:2] == _GZIP:  # type: ignore[index]  # bytes and maps have slices, and no common type that says so
            return gzip.decompress(raw)  # type: ignore[arg-type]  # as above
        if raw[:4] == _ZSTD:  # type: ignore[index]  # as above
            return _unzstd(raw)
    except (EOFError, OSError, ValueError, zlib.error) as error:  # Arrow's errors are OSError and ValueError
        what = f"expected a complete compressed file, found: {error}"
        raise FormatError(what, at=name, remedy="fetch it again, or compress it again") from None
    return raw


def _unzstd(raw: object) -> bytes:
    import pyarrow as pa  # noqa: PLC0415  most files are not compressed

    content: bytes = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(raw)), "zstd").read()
    return content
