"""A document as the page shows it: its text, its blocks, its elements, in as few bytes as are needed."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from focuseval.assess.documents import DocumentCache
from focuseval.assess.layout import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.assess.document import Document


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

    >>> from focuseval.assess.document import Document
    >>> document_view(Document("d", "One."))["blocks"]
    [4, 0, 0]
    """
    kinds: dict[str, int] = {}
    blocks = [n for b in layout(document) for n in (b.end - b.start, kinds.setdefault(b.kind, len(kinds)), b.level)]
    steps: dict[str, int] = {}
    elements = []
    depth: list[int] = []
    for element in document.elements:
        depth.append(depth[element.parent] + 1 if element.parent >= 0 else 0)
        code = steps.setdefault(element.path.rsplit("/", 1)[-1], len(steps))
        elements += [element.start, element.end - element.start, depth[-1], code]
    return {
        "id": document.id,
        "title": heading(document.text),
        "text": document.text,
        "length": len(document.text),
        "kinds": list(kinds),
        "blocks": blocks,
        "steps": list(steps),
        "elements": elements,
    }


def heading(text: str, most: int = 70) -> str:
    r"""Return the first words of a text.

    >>> heading("\n  Tides\nThe moon …")
    'Tides'
    """
    first = next((line.strip() for line in text[:2000].splitlines() if line.strip()), "")
    return first if len(first) <= most else first[: most - 1].rstrip() + "…"


def as_json(value: Any) -> str:
    r"""Return JSON that may stand inside of a script element: nothing in it can end the element or begin a comment.

    >>> as_json({"text": "</script>"})
    '{"text":"\\u003c/script>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
