"""Files of several documents: JSON lines, and TREC's ``<DOC> <DOCNO> … </DOCNO> … </DOC>`` one after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from focuseval.collection.json_lines import json_documents, opened
from focuseval.collection.kinds import MAX_BYTES
from focuseval.errors import CollectionError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.engine.storage import Location

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
