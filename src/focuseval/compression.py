"""Compressed files, told by their first bytes: gzip (several members, too) and zstd."""

from __future__ import annotations

from typing import TypeVar

from focuseval.errors import FormatError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

Data = TypeVar("Data")
"""Bytes, or a mapped file."""


def unpacked(raw: Data, name: str) -> Data | bytes:
    """Return the content of a file: what it holds if it is compressed, else the file as it is.

    >>> import gzip
    >>> unpacked(gzip.compress(b"topics"), "topics.gz"), unpacked(b"as it is", "topics")
    (b'topics', b'as it is')
    """
    head: bytes = raw[:4]  # type: ignore[index]  # bytes and maps have slices, and no common type that says so
    if head[:2] != _GZIP and head != _ZSTD:
        return raw
    import gzip  # noqa: PLC0415  most files are not compressed
    import zlib  # noqa: PLC0415  as above

    try:
        return gzip.decompress(raw) if head[:2] == _GZIP else _unzstd(raw)  # type: ignore[arg-type]  # as above
    except (EOFError, OSError, ValueError, zlib.error) as error:  # Arrow's errors are OSError and ValueError
        what = f"expected a complete compressed file, found: {error}"
        raise FormatError(what, at=name, remedy="fetch it again, or compress it again") from None


def _unzstd(raw: object) -> bytes:
    import pyarrow as pa  # noqa: PLC0415  most files are not compressed

    content: bytes = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(raw)), "zstd").read()
    return content
