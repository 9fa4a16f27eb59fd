"""How a document, or pieces of it, are stored in few bytes in a page; and pages of PDFs as they look."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.collection.pdfium import draw_page
from focuseval.collection.rendering import Document, DocumentCache, TextBlock, layout, render, title_of
from focuseval.errors import counted

FIRST_LINE = 400  # characters in which a first line is looked for
BLOCK = 100_000  # characters of JSON that are compressed together: a page opens so many in a few milliseconds
BUDGET = 2_500_000
"""Bytes of compressed text in a report; the graphs' library takes .8 MB of the 5 that a report may have."""
SCALE = 1.25  # pixels a point of a page's picture


def reader(index: Any) -> Callable[[int], dict[str, Any]]:
    """Return a function from a row of the index to the document's view; the last ones asked for are kept."""
    documents = DocumentCache(index)
    ids = index.ids

    @lru_cache(maxsize=2048)
    def read(row: int) -> dict[str, Any]:
        return document_view(documents.get(ids[row].as_py()))

    return read


def document_view(document: Document) -> dict[str, Any]:
    """Return text, blocks and elements as plain values; numbers in flat lists, names once.

    >>> from focuseval.collection.rendering import Document
    >>> document_view(Document("d", "One."))["blocks"]
    [4, 0, 0]
    """
    steps: dict[str, int] = {}
    elements = []
    depth: list[int] = []
    for element in document.elements:
        depth.append(depth[element.parent] + 1 if element.parent >= 0 else 0)
        code = steps.setdefault(element.path.rsplit("/", 1)[-1], len(steps))
        elements += [element.start, element.end - element.start, depth[-1], code]
    whole = [0, len(document.text)]
    view = {
        "title": shortened(title_of(document).lstrip("# ")),
        "text": document.text,
        "length": whole[1],
        "pieces": whole,
    }
    rendering = render(document)
    return view | _blocks([rendering.blocks]) | rendering.as_json() | {"steps": list(steps), "elements": elements}


def excerpt_view(text: str, pieces: Sequence[tuple[int, int]], title: str = "") -> dict[str, Any]:
    """Return some pieces of a text, one after the other, with where they stand in the document.

    Without a title the text's first line is one.

    >>> view = excerpt_view("One two three", [(0, 3), (8, 13)])
    >>> view["text"], view["pieces"], view["length"]
    ('Onethree', [0, 3, 8, 13], 13)
    """
    shown = [Document("", text[start:end]) for start, end in pieces]
    places = [n for piece in pieces for n in piece]
    title = title or shortened(title_of(Document("", text[:FIRST_LINE])).lstrip("# "))
    view = {"title": title, "text": "".join(piece.text for piece in shown)}
    blocks = _blocks([layout(piece) for piece in shown])
    return view | {"length": len(text), "pieces": places} | blocks | {"steps": [], "elements": []}


def _blocks(documents: Sequence[Sequence[TextBlock]]) -> dict[str, Any]:
    """Return length, kind and depth of all blocks, one after the other, and the names of the kinds."""
    kinds: dict[str, int] = {}
    numbers = [
        number
        for blocks in documents
        for b in blocks
        for number in (b.end - b.start, kinds.setdefault(b.named, len(kinds)), b.level)
    ]
    return {"kinds": list(kinds), "blocks": numbers}


def shortened(title: str, most: int = 70) -> str:
    r"""Return a title that fits into a line.

    >>> shortened("Tides and " * 9, 16)
    'Tides and Tides…'
    """
    return title if len(title) <= most else title[: most - 1].rstrip() + "…"


def as_json(value: Any) -> str:
    r"""Return JSON that may stand inside of a script element: nothing in it can end the element or begin a comment.

    >>> as_json({"text": "</script>"})
    '{"text":"\\u003c/script>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def packed(texts: Mapping[str, dict[str, Any]]) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return texts in blocks, each compressed and in base64, and for every document its block and its place in it.

    >>> blocks, places = packed({"a": {"text": "One."}, "b": {"text": "Two."}})
    >>> json.loads(zlib.decompress(base64.b64decode(blocks[0]))), places
    ([{'text': 'One.'}, {'text': 'Two.'}], {'a': (0, 0), 'b': (0, 1)})
    """
    blocks: list[list[str]] = []
    places, size = {}, BLOCK
    for name, view in texts.items():
        if size >= BLOCK:
            blocks.append([])
            size = 0
        places[name] = (len(blocks) - 1, len(blocks[-1]))
        blocks[-1].append(as_json(view))
        size += len(blocks[-1][-1])
    packets = (zlib.compress(f"[{','.join(block)}]".encode(), 6) for block in blocks)
    return [base64.b64encode(packet).decode() for packet in packets], places


def size_of(texts: Mapping[str, dict[str, Any]]) -> int:
    """Return the bytes that texts take in a page."""
    return sum(map(len, packed(texts)[0]))


def pictured(
    texts: Mapping[str, dict[str, Any]], index: Collection, windows: tuple[NDArray[np.int64], ...], most: int
) -> tuple[dict[str, dict[str, Any]], str]:
    """Return texts with pictures of the pages on which windows stand, the first windows first, and a sentence on them.

    Documents whose text is not embedded get none.
    """
    chosen: dict[tuple[int, int], None] = {}
    known: dict[int, Any] = {}
    for row, start, end in zip(*(column.tolist() for column in windows), strict=True):
        if row not in known:
            known[row] = index.pages(row) if index.ids[row].as_py() in texts else None
        if (pages := known[row]) is not None:
            last = max(start, min(end, int(index.lengths[row])) - 1)
            chosen |= dict.fromkeys((row, page) for page in range(int(pages.of(start)), int(pages.of(last)) + 1))
    kept, found, size = sorted(list(chosen)[:most]), {name: dict(view) for name, view in texts.items()}, 0
    for row, page in kept:
        name, pages = index.ids[row].as_py(), known[row]
        picture = base64.b64encode(draw_page(pages.file(name), name, page, SCALE)).decode()
        size += len(picture)
        width, height = pages.size(page)
        words = [value for word in pages.words(page, index.text(row)) for value in word[:6]]
        sheet = {"page": page, "width": width, "height": height, "picture": picture, "words": words}
        found[name]["sheets"] = [*found[name].get("sheets", ()), sheet]
    if not kept:
        return found, " No page can be shown as it looks: there are no PDFs, or their text is not embedded."
    rest = f", those of {len(chosen) - len(kept):,} more are not" if len(chosen) > len(kept) else ""
    return found, f" Pictures of {counted(len(kept), 'PDF page')} are embedded ({size / 1000:,.0f} kB){rest}."
