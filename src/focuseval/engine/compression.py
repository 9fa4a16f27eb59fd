"""Compressed files, told by their first bytes: gzip (several members, too) and zstd."""

from __future__ import annotations

from typing import TypeVar

from focuseval.errors import FormatError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

Data = TypeVar("Data")
"""Bytes, or a mapped file."""


def unpacked(raw: Data, name: str, *, largest: int = -1) -> Data | bytes:
    """Return the content of a file: what it holds if it is compressed, else the file as it is.

    A file that holds more than `largest` bytes is refused before it fills the memory, where that is given.

    >>> import gzip
    >>> unpacked(gzip.compress(b"topics"), "topics.gz"), unpacked(b"as it is", "topics")
    (b'topics', b'as it is')
    """
    head: bytes = raw[:4]  # type: ignore[index]  # bytes and maps have slices, and no common type that says so
    if head[:2] != _GZIP and head != _ZSTD:
        return raw
    import zlib  # noqa: PLC0415  most files are not compressed

    try:
        found = _ungzip(raw, largest) if head[:2] == _GZIP else _unzstd(raw, largest)
    except (EOFError, OSError, ValueError, zlib.error) as error:  # Arrow's errors are OSError and ValueError
        what = f"expected a complete compressed file, found: {error}"
        raise FormatError(what, at=name, remedy="fetch it again, or compress it again") from None
    if 0 <= largest < len(found):
        raise FormatError(f"expected at most {largest >> 20} MB when it is unpacked, found more", at=name)
    return found


def _ungzip(raw: object, largest: int) -> bytes:
    import gzip  # noqa: PLC0415  most files are not compressed
    import io  # noqa: PLC0415  as above

    if largest < 0:
        return gzip.decompress(raw)  # type: ignore[arg-type]  # bytes and maps alike
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:  # type: ignore[arg-type]  # as above
        return file.read(largest + 1)


def _unzstd(raw: object, largest: int) -> bytes:
    import pyarrow as pa  # noqa: PLC0415  most files are not compressed

    stream = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(raw)), "zstd")
    content: bytes = stream.read() if largest < 0 else stream.read(largest + 1)
    return content
