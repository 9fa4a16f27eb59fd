"""Pages of PDFs as pictures in a report, with the words on them, so that the page can draw on them what was found."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from focuseval.collection.pdfium import draw_page
from focuseval.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection

SCALE = 1.25
"""Pixels a point."""


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
        picture = base64.b64encode(draw_page(pages.original.as_py(), name, page, SCALE)).decode()
        size += len(picture)
        width, height = pages.size(page)
        words = [value for word in pages.words(page, index.text(row)) for value in word[:6]]
        sheet = {"page": page, "width": width, "height": height, "picture": picture, "words": words}
        found[name]["sheets"] = [*found[name].get("sheets", ()), sheet]
    if not kept:
        return found, " No page can be shown as it looks: there are no PDFs, or their text is not embedded."
    rest = f", {len(chosen) - len(kept):,} further ones are not" if len(chosen) > len(kept) else ""
    return found, f" {counted(len(kept), 'page')} of PDFs as they look are embedded ({size / 1000:,.0f} kB){rest}."
