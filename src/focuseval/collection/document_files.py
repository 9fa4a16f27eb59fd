"""Files of documents: what a file holds, by its name, and the documents of files that hold several.

A file is a document in XML, HTML or plain text, a notebook, a Word document or a PDF; or it holds several: JSON lines,
a JSON list, or TREC's ``<DOC> <DOCNO> … </DOCNO> … </DOC>`` one after the other. All of them may be compressed.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from os.path import splitext
from typing import Any

import pyarrow as pa

from focuseval.data.fields import QUESTION_IDS, json_fault, value
from focuseval.engine.storage import Location, Remote, in_order, inflated
from focuseval.engine.storage import unpacked as whole_file
from focuseval.errors import CollectionError, Place

MAX_BYTES = 256 * 1024 * 1024
"""A document larger than this is refused: a collection's articles are thousands of times smaller."""

DOCUMENTS = {
    **dict.fromkeys((".xml", ".nxml", ".xhtml"), "xml"),
    **dict.fromkeys((".html", ".htm"), "html"),
    **dict.fromkeys((".txt", ".md", ".rst", ".adoc", ".org"), "plain"),
    ".ipynb": "notebook",
    ".docx": "docx",
    **({".pdf": "pdf"} if find_spec("pypdfium2") else {}),  # the extra 'pdf'
}
"""Extensions of files that hold one document; the extension is not part of its id."""
CONTAINERS = {".jsonl": "json", ".ndjson": "json", ".trec": "trec", ".sgml": "trec", ".sgm": "trec"}
"""Extensions of files that hold several documents, which bring their own ids."""
WHOLE = {"json-file": "json", "trec-file": "trec"}
"""Kinds of members that are such a file as a whole, which a worker takes apart, and how it does."""
PACKED = (".gz", ".zst")
JSONL = (".jsonl", ".ndjson", ".json")


def kind_of(name: str) -> tuple[str, str]:
    """Return a file's name without extensions, and its extension in small letters, which says what it holds.

    >>> kind_of("co/2000/r7023.xml.gz"), kind_of("docs.JSONL"), kind_of("LICENCE")
    (('co/2000/r7023', '.xml'), ('docs', '.jsonl'), ('LICENCE', ''))
    """
    stem, extension = splitext(name)  # noqa: PTH122  a member's name is no path of this machine
    if extension.lower() in PACKED:
        stem, extension = splitext(stem)  # noqa: PTH122  as above
    return stem, extension.lower()


def unpacked(data: bytes, file: str) -> bytes:
    """Return what a file holds: its bytes, or those that are compressed in it, as its name says."""
    extension = file[-4:].lower()
    if not extension.endswith(PACKED):
        return data
    how = "gzip" if extension.endswith(".gz") else "zstd"
    content = inflated(data, how, file, largest=MAX_BYTES, error=CollectionError)
    if len(content) > MAX_BYTES:
        what = f"refused: more than {MAX_BYTES // 2**20} MB"
        raise CollectionError(what, at=file, remedy="split the document")
    return content


def json_files(place: Location) -> list[Location]:
    """Return the files of JSON lines at a place: itself, a folder's corpus (BEIR), or a folder of nothing else."""
    if not place.is_dir():
        return [place] if place.is_file() and kind_of(place.name)[1] in JSONL else []
    held = in_order(path for path in place.iterdir() if not path.name.startswith("."))
    lines = [path for path in held if kind_of(path.name)[1] in JSONL]
    if corpus := [path for path in lines if path.name.startswith("corpus.jsonl")]:
        return corpus[:1]
    return held if len(lines) == len(held) and all(path.is_file() for path in held) else []


def records(files: Sequence[Location], expected: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every object of lines, or of a list, with its place; `expected` is what one should be, for the message."""
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            at = Place(str(path), number)
            is_list = number == 1 and line.lstrip()[:1] == "["
            try:
                parsed = json.loads(whole_file(path.read_bytes(), str(path)) if is_list else line)
            except (ValueError, RecursionError) as error:
                what = f"{expected}, found no JSON ({json_fault(error)})"
                raise CollectionError(what, at=at, remedy="one object per line") from None
            for record in parsed if is_list else [parsed]:
                if not isinstance(record, dict):
                    what = f"{expected}, found a {type(record).__name__}"
                    raise CollectionError(what, at=at, remedy="one object per line")
                yield at, record
            if is_list:
                break


def json_documents(files: Sequence[Location]) -> Iterator[tuple[Place, str, str]]:
    """Yield place, id (maybe a number) and text of documents, by any name of `data.fields`; ``id``, ``_id`` first."""
    expected = 'expected {"id": "…", "text": "…"}'
    for at, record in records(files, expected):
        name = next((record[key] for key in QUESTION_IDS if record.get(key) is not None), None)
        name = value(record, "doc", at) if name is None else name
        name = str(name) if type(name) is int else name
        text = value(record, "text", at) if record.get("text") != "" else ""
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise CollectionError(f"{expected}, found keys {sorted(record)}", at=at, remedy="both must be strings")
        yield at, whole_characters(name, at, expected), whole_characters(text, at, expected)


def whole_characters(text: str, at: Place, expected: str) -> str:
    """Return a text that UTF-8 can say; half a surrogate pair, which JSON can write, is refused."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        what = f"{expected}, found half a surrogate pair"
        raise CollectionError(what, at=at, remedy="write real characters") from None
    return text


def _lines(path: Location) -> Iterator[str]:
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="\n") as stream:
            while line := stream.readline(MAX_BYTES):
                if len(line) == MAX_BYTES:
                    what = f"expected lines of less than {MAX_BYTES // 2**20} MB, found a longer one"
                    raise CollectionError(what, at=str(path), remedy="write one document on a line")
                yield line
    except UnicodeDecodeError as error:
        raise CollectionError(f"expected UTF-8, found: {error.reason}", at=str(path), remedy="convert it") from None
    except OSError as error:
        what = f"cannot read: {error.strerror or error}"
        raise CollectionError(what, at=str(path), remedy="check the name and the permissions") from None


def opened(path: Location) -> Any:
    """Return a file's bytes as a stream; those of a compressed one, unpacked as they are read."""
    file = path.open("rb")
    packed = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}.get(file.read(2))
    file.seek(0)
    if not packed:
        return file
    if isinstance(path, Remote):
        return pa.CompressedInputStream(pa.PythonFile(file, "r"), packed)
    file.close()
    return pa.input_stream(str(path), compression=packed)


_CHUNK, _LOOK = 1 << 22, 1 << 12
_CLOSE = re.compile(rb"</doc\s*>", re.IGNORECASE)
_OPEN = re.compile(rb"(?:\s|<\?.*?\?>|<!--.*?-->)*(?=<doc[\s>])", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(
    rb"<docno\s*>\s*(.*?)\s*</docno\s*>|\A<doc\s[^>]*?\bid\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE | re.DOTALL
)
_EXPECTED = "expected <doc> with a <docno> or an id"


def contained(path: Location, kind: str) -> Iterator[tuple[str, str, str, bytes]]:
    """Yield the documents of a file in order: id, place to show in errors, kind and bytes."""
    if kind == "json":
        for at, name, text in json_documents([path]):
            yield name, str(at), "text", text.encode()
        return
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
        yield (number[1] or number[2] or b"").decode("utf-8", "replace"), str(at), "trec", content
        line += data.count(b"\n")


def holds_documents(path: Location, kind: str) -> bool:
    """Say whether a file that is named like one of several documents begins with one: others have such names, too."""
    if kind == "trec":
        with opened(path) as stream:
            return _OPEN.match(stream.read(_LOOK)) is not None
    try:
        return next(json_documents([path]), None) is not None
    except CollectionError:
        return False


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
