"""Files of documents: what a file holds, by its name, and the documents of files that hold several.

A file is a document in XML, HTML or plain text, or it holds several: JSON lines, a JSON list, or TREC's
``<DOC> <DOCNO> … </DOCNO> … </DOC>`` one after the other. All of them may be compressed.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from io import BytesIO
from os.path import splitext
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.data.fields import QUESTION_IDS, value
from focuseval.engine.storage import Remote, in_order
from focuseval.errors import CollectionError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.engine.storage import Location


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


JSONL = (".jsonl", ".ndjson", ".json")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
"""How compressed files begin."""


def json_files(place: Location) -> list[Location]:
    """Return the files of JSON lines at a place: itself, a folder's corpus (BEIR), or all that a folder holds.

    The latter if it holds nothing else.
    """
    if place.is_file():
        return [place] if _named(place) else []
    if not place.is_dir():
        return []
    held = in_order(path for path in place.iterdir() if not path.name.startswith("."))
    if corpus := [path for path in held if path.name.startswith("corpus.jsonl") and _named(path)]:
        return corpus[:1]
    return held if all(path.is_file() and _named(path) for path in held) else []


def _named(path: Location) -> bool:
    """Say whether a file is called one of JSON lines, whatever compresses it."""
    return kind_of(path.name)[1] in JSONL


def records(files: Sequence[Location], expected: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every object of lines, or of a list, with its place; `expected` is what one should be, for the message."""
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            at = Place(str(path), number)
            if number == 1 and line.lstrip()[:1] == "[":
                listed = _parsed("".join(_lines(path)), at, expected)
                yield from ((at, _object(one, at, expected)) for one in listed)
                break
            yield at, _object(_parsed(line, at, expected), at, expected)


def _parsed(text: str, at: Place, expected: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CollectionError(f"{expected}, found no JSON ({error})", at=at, remedy="one object per line") from None


def _object(record: Any, at: Place, expected: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise CollectionError(f"{expected}, found a {type(record).__name__}", at=at, remedy="one object per line")
    return record


def json_documents(files: Sequence[Location]) -> Iterator[tuple[Place, str, str]]:
    """Yield place, id and text of every document, by any of their names (`data.fields`); ``id``, ``_id`` first."""
    expected = 'expected {"id": "…", "text": "…"}'
    for at, record in records(files, expected):
        name, text = _id(record, at), value(record, "text", at) if record.get("text") != "" else ""
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise CollectionError(f"{expected}, found keys {sorted(record)}", at=at, remedy="both must be strings")
        yield at, whole_characters(name, at, expected), whole_characters(text, at, expected)


def _id(record: dict[str, Any], at: Place) -> Any:
    """Return a document's id; a number is taken as it looks."""
    named = next((record[name] for name in QUESTION_IDS if record.get(name) is not None), None)
    named = value(record, "doc", at) if named is None else named
    return str(named) if isinstance(named, int) and not isinstance(named, bool) else named


def whole_characters(text: str, at: Place, expected: str) -> str:
    """Return a text that UTF-8 can say; half a surrogate pair, which JSON can write, is refused."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CollectionError(
            f"{expected}, found half a surrogate pair", at=at, remedy="write real characters"
        ) from None
    return text


def _lines(path: Location) -> Iterator[str]:
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="\n") as stream:
            yield from stream
    except UnicodeDecodeError as error:
        raise CollectionError(f"expected UTF-8, found: {error.reason}", at=str(path), remedy="convert it") from None
    except OSError as error:
        raise CollectionError(
            f"cannot read: {error.strerror or error}", at=str(path), remedy="check the name and the permissions"
        ) from None


def opened(path: Location) -> Any:
    """Return a file's bytes as a stream; those of a compressed one, unpacked as they are read."""
    file = path.open("rb")
    packed = _PACKED.get(file.read(2))
    file.seek(0)
    if not packed:
        return file
    if isinstance(path, Remote):
        return pa.CompressedInputStream(pa.PythonFile(file, "r"), packed)
    file.close()
    return pa.input_stream(str(path), compression=packed)


Contained = tuple[str, str, str, bytes]
"""A document's id, the place to show in errors, its kind and its bytes."""

_CHUNK, _LOOK = 1 << 22, 1 << 12
_CLOSE = re.compile(rb"</doc\s*>", re.IGNORECASE)
_OPEN = re.compile(rb"(?:\s|<\?.*?\?>|<!--.*?-->)*(?=<doc[\s>])", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(
    rb"<docno\s*>\s*(.*?)\s*</docno\s*>|\A<doc\s[^>]*?\bid\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE | re.DOTALL
)
_EXPECTED = "expected <doc> with a <docno> or an id"


def contained(path: Location, kind: str) -> Iterator[Contained]:
    """Yield the documents of a file, in order."""
    if kind == "json":
        for at, name, text in json_documents([path]):
            yield name, str(at), "text", text.encode()
    else:
        yield from _trec_documents(path)


def holds_documents(path: Location, kind: str) -> bool:
    """Say whether a file that is named like one of several documents begins with one: others have such names, too."""
    if kind == "trec":
        with opened(path) as stream:
            return _OPEN.match(stream.read(_LOOK)) is not None
    try:
        return next(json_documents([path]), None) is not None
    except CollectionError:
        return False


def _trec_documents(path: Location) -> Iterator[Contained]:
    """Yield what stands between ``<doc>`` and ``</doc>``."""
    line = 1
    for data in _closed(path):
        head = _OPEN.match(data)
        blank = head.end() if head else len(data) - len(data.lstrip())
        at = Place(str(path), line + data.count(b"\n", 0, blank))
        if head is None:
            found = data[blank : blank + 20].decode("utf-8", "replace")
            raise CollectionError(f"{_EXPECTED}, found {found!r}", at=at, remedy="leave out what is no document")
        content = data[head.end() :]
        number = _NUMBER.search(content)
        if number is None:
            raise CollectionError(f"{_EXPECTED}, found none", at=at, remedy="give every document its own")
        name = (number[1] or number[2] or b"").decode("utf-8", "replace")
        yield name, str(at), "trec", content
        line += data.count(b"\n")


def _closed(path: Location) -> Iterator[bytes]:
    """Yield pieces of a file that end with ``</doc>``; what stands behind the last is white space, or refused."""
    rest = b""
    with opened(path) as stream:
        while chunk := stream.read(_CHUNK):
            looked = max(len(rest) - 64, 0)  # a closing tag may stand across two chunks
            rest += chunk
            begin = 0
            for close in _CLOSE.finditer(rest, looked):
                yield rest[begin : close.end()]
                begin = close.end()
            rest = rest[begin:]
            if len(rest) > MAX_BYTES:
                what = f"{_EXPECTED}, found none that ends within {MAX_BYTES // 2**20} MB"
                raise CollectionError(what, at=str(path), remedy="is it a file of several <doc>?")
    if rest.strip():
        what = f"expected </doc> at the end, found {rest.strip()[-20:].decode('utf-8', 'replace')!r}"
        raise CollectionError(what, at=str(path), remedy="is the file complete?")
