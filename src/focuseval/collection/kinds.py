"""What a file holds, by its name: a document in XML, HTML or plain text, or several documents; maybe compressed."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from os.path import splitext

from focuseval.errors import CollectionError

MAX_BYTES = 256 * 1024 * 1024
"""A document larger than this is refused: a collection's articles are thousands of times smaller."""

DOCUMENTS = {
    ".xml": "xml",
    ".nxml": "xml",
    ".xhtml": "xml",
    ".html": "html",
    ".htm": "html",
    ".txt": "plain",
    ".md": "plain",
}
"""Extensions of files that hold one document; the extension is not part of its id."""

CONTAINERS = {".jsonl": "json", ".ndjson": "json", ".trec": "trec", ".sgml": "trec", ".sgm": "trec"}
"""Extensions of files that hold several documents, which bring their own ids."""

WHOLE = {"json-file": "json", "trec-file": "trec"}
"""Kinds of members that are such a file as a whole, which a worker takes apart, and how it does."""

PACKED = (".gz", ".zst")


def kind_of(name: str) -> tuple[str, str]:
    """Return a file's name without extensions, and its extension in small letters, which says what it holds.

    >>> kind_of("co/2000/r7023.xml.gz"), kind_of("docs.JSONL"), kind_of("LICENCE")
    (('co/2000/r7023', '.xml'), ('docs', '.jsonl'), ('LICENCE', ''))
    """
    stem, extension = _parted(name)
    return _parted(stem) if extension in PACKED else (stem, extension)


def _parted(name: str) -> tuple[str, str]:
    """Return what `os.path.splitext` does, sooner for usual names: it is asked of every file of a collection."""
    stem, dot, extension = name.rpartition(".")
    if not stem or stem[-1] in "./" or "/" in extension:
        stem, extension = splitext(name)  # noqa: PTH122  a member's name is no path of this machine
        return stem, extension.lower()
    return stem, dot + extension.lower()


def unpacked(data: bytes, file: str) -> bytes:
    """Return what a file holds: its bytes, or those that are compressed in it."""
    name = file[-4:].lower()
    if not name.endswith(PACKED):
        return data
    try:
        content = _gunzipped(data) if name.endswith(".gz") else _unzstd(data)
    except (EOFError, OSError, ValueError, zlib.error) as error:  # Arrow's errors are OSError and ValueError
        what = f"expected a complete compressed file, found: {error}"
        raise CollectionError(what, at=file, remedy="fetch it again, or compress it again") from None
    if len(content) > MAX_BYTES:
        what = f"refused: more than {MAX_BYTES // 2**20} MB"
        raise CollectionError(what, at=file, remedy="split the document")
    return content


def _gunzipped(data: bytes) -> bytes:
    with gzip.open(BytesIO(data)) as stream:
        return stream.read(MAX_BYTES + 1)


def _unzstd(data: bytes) -> bytes:
    import pyarrow as pa  # noqa: PLC0415  only this kind of file needs it

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        content: bytes = stream.read(MAX_BYTES + 1)
        return content
