"""Pages and boxes of PDFs → code points: the characters whose middle lies in a box.

A box comes in many conventions: points or shares of the page, counted from its top or from its bottom, or pixels of a
picture whose size is given. `PageBox` keeps what was said; `seen` turns it into points from the upper left corner of
the page as it is shown, as the index has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.pages import Pages
    from focuseval.errors import Place

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in points of the page as it is seen."""


class PageBox(NamedTuple):
    """A page (from 1), or a box on it, as somebody wrote it."""

    page: int
    box: Box | None = None
    """The smaller and the larger x and y: x0, y0, x1, y1; None for the whole page."""
    origin: str = ""
    """Whether y counts from the ``top`` or the ``bottom``; nothing where that is not said."""
    frame: tuple[float, float] | None = None
    """Width and height of the page in the unit of the box; None where that is points, or shares of the page."""


def seen(place: PageBox, size: tuple[float, float], at: Place | None = None) -> Box | None:
    """Return a box in points from the upper left corner; None for a whole page.

    >>> seen(PageBox(1, (0.1, 0.2, 0.5, 0.25), "bottom"), (600, 800))
    (60.0, 600.0, 300.0, 640.0)
    """
    if place.box is None:
        return None
    width, height = size
    frame = place.frame or ((1.0, 1.0) if max(place.box) <= 1 and min(place.box) >= 0 else size)
    x0, y0, x1, y1 = (value * side / whole for value, side, whole in zip(place.box, size * 2, frame * 2, strict=True))
    if max(x0, x1) > 1.5 * width or max(y0, y1) > 1.5 * height:
        found = ", ".join(f"{value:g}" for value in place.box)
        what = f"expected a box on a page of {width:g} × {height:g} points, found {found}"
        remedy = "for pixels, give page_width and page_height beside the box"
        raise FormatError(what, at=at, remedy=remedy)
    return (x0, height - y1, x1, height - y0) if place.origin == "bottom" else (x0, y0, x1, y1)


def code_points(pages: Pages, places: Sequence[PageBox], at: Place | None = None) -> list[tuple[int, int]]:
    """Return the spans of all characters in some boxes or on some pages; none where they are empty."""
    for place in places:
        if not 1 <= place.page <= len(pages):
            remedy = "pages are counted from 1; of a field called 'page' from 0 if one of the file is 0"
            what = f"expected a page from 1 to {len(pages)}, found {place.page}"
            raise FormatError(what, at=at, remedy=remedy)
    return pages.covered([(place.page, seen(place, pages.size(place.page), at)) for place in places])
