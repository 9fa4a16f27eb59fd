"""Images of figures: which files of the collection a document names, where they stand in its text, and their bytes.

An index holds no attributes and no images. It names the folders and archives that it was made of, and these are read
again when somebody looks at a document: JATS ``graphic``, HTML ``img`` and DocBook ``imagedata`` of its source, and
``![…](…)`` of Markdown. A source that is gone, or has another text now, has no images.

A reference is a path beside the document, or from the top of the collection where it begins with a stroke; JATS leaves
out the extension. One that leads out of the collection (``..``, an address, a link), to a hidden file or to one of more
than `MAX_BYTES` names no image, and only what begins as PNG, JPEG, GIF or WebP is one.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from focuseval.collection.document_files import DOCUMENTS, kind_of, unpacked
from focuseval.collection.index import Index
from focuseval.collection.parse import Raw, read_slowly
from focuseval.collection.sources import archive_members
from focuseval.engine.lazy import Kept
from focuseval.engine.storage import Location, Remote, location
from focuseval.errors import FocusevalError

MAX_BYTES = 16 << 20  # of an image
MAX_ARCHIVE = 256 << 20
"""Bytes of an archive that is read from its beginning for every image; of a .zip only what is needed is read."""
_ENDINGS = ("", ".png", ".jpg", ".jpeg", ".gif", ".webp")
_MARKDOWN = re.compile(r"!\[[^\]\n]*\]\(\s*<?([^\s()<>]+)[^()\n]*\)")
_HEAD = re.compile(rb"(?s)(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF....WEBP)")


def image_type(data: bytes) -> str | None:
    """Return the media type of an image by its first bytes; None for what a page does not show.

    >>> image_type(b"GIF89a..."), image_type(b"<svg onload='...'>")
    ('image/gif', None)
    """
    found = _HEAD.match(data)
    return f"image/{found.lastgroup}" if found else None


def names_in_collection(reference: str, file: str) -> list[str]:
    """Return the names that a document's reference may mean, the likeliest first; none where it leads out.

    >>> names_in_collection("img/a.png", "docs/one.html")[:2], names_in_collection("/b", "docs/one.html")[1]
    (['docs/img/a.png', 'docs/img/a.png.png'], 'b.png')
    >>> names_in_collection("../../etc/passwd", "docs/one.html"), names_in_collection("http://x.org/a.png", "a.html")
    ([], [])
    """
    try:
        parts = urlsplit(reference.rpartition("/")[2] if reference.startswith("info:") else reference)
    except ValueError:
        return []
    path = unquote(parts.path)
    beside = "" if path.startswith("/") else posixpath.dirname(file)
    name = posixpath.normpath(posixpath.join(beside, path.lstrip("/")))
    leads_out = parts.scheme or parts.netloc or "\\" in name or "\0" in name
    hidden = any(part.startswith(".") for part in name.split("/"))
    return [] if leads_out or hidden else [name + ending for ending in _ENDINGS]


def _sizes(archive: Location) -> dict[str, int]:
    return {name.removeprefix("./"): size for name, size, _ in archive_members(archive)}


class Images:
    """The images that the documents of an index name, as far as the sources of the index hold them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sources = [location(source) for source in index.metadata.get("sources", ())]
        self._archives = Kept["dict[str, int]"](8)
        self._found = Kept["list[tuple[int, str, Location]]"](64)

    def of(self, row: int) -> list[tuple[int, str]]:
        """Return where in its text a document has an image, and the name that it has in the collection."""
        return [(position, name) for position, name, _ in self._found.get(row, partial(self._look, row))]

    def read(self, row: int, number: int) -> bytes | None:
        """Return the bytes of a document's image, by its number from 0; None where it has none, or it is no image."""
        found = self._found.get(row, partial(self._look, row))
        data = self._content(found[number][2], found[number][1]) if 0 <= number < len(found) else None
        return data if data is not None and image_type(data) else None

    def _look(self, row: int) -> list[tuple[int, str, Location]]:
        """Return where a document has images, with their names, and the source that holds each."""
        file, text = str(self._index.documents.column("file")[row]), self._index.text(row)
        kind, found = DOCUMENTS.get(kind_of(file)[1]), []
        for source in self._sources:
            references: list[tuple[int, str]] = []
            if kind == "plain":
                references = [(one.end(), one[1]) for one in _MARKDOWN.finditer(text)]
            elif kind in {"xml", "html"}:
                held = ((name, self._content(source, name)) for name in (file, f"{file}.gz", f"{file}.zst"))
                name, data = next(((name, data) for name, data in held if data is not None), ("", None))
                with suppress(FocusevalError):  # it could be read when the index was made
                    tree = read_slowly(Raw("", name, unpacked(data, name), kind_of(file)[1])) if data else None
                    references = tree.images if tree is not None and tree.text == text else []
            for position, reference in references:
                names = names_in_collection(reference, file)
                there = next((name for name in names if self._size(source, name) is not None), None)
                found += [(position, there, source)] if there else []
        return sorted(found, key=lambda one: one[0])

    def _size(self, source: Location, name: str) -> int | None:
        """Return the size of a file of the collection; None where there is none, or it is a large one or elsewhere."""
        size: int | None = None
        archive, tars = source.name.lower(), (".tar", ".tar.gz", ".tgz", ".tar.zst")
        with suppress(FocusevalError, OSError, ValueError):
            if source.is_dir():
                place: Any = source / name
                inside = isinstance(source, Remote) or place.resolve().is_relative_to(source.resolve())
                size = place.stat().st_size if inside and place.is_file() else None
            elif archive.endswith(".zip") or (archive.endswith(tars) and source.stat().st_size <= MAX_ARCHIVE):
                size = self._archives.get(str(source), partial(_sizes, source)).get(name)
        return size if size is not None and size <= MAX_BYTES else None

    def _content(self, source: Location, name: str) -> bytes | None:
        if self._size(source, name) is None:
            return None
        with suppress(FocusevalError, OSError):
            if source.is_dir():
                return (source / name).read_bytes()
            return next(read() for file, _, read in archive_members(source) if file.removeprefix("./") == name)
        return None
