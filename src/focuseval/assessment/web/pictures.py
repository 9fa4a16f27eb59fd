"""The pages of a PDF as they look: their pictures, and where their words stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, jsonify, request

from focuseval.assessment.web.desk import desk, key_of, whole_number
from focuseval.collection.pdfium import draw_page

if TYPE_CHECKING:
    from focuseval.collection.pages import Pages

MOST_SCALE = 4.0

pictures = Blueprint("pictures", __name__, url_prefix="/api")


def _asked() -> tuple[str, Pages, int]:
    """Return the document, its pages and the page that a request speaks of."""
    document = key_of(request.args).document
    pages, page = desk().documents.pages(document), whole_number(request.args.get("page", ""))
    if pages is None or not 1 <= page <= len(pages):
        abort(404, "no such page")
    return document, pages, page


@pictures.get("/picture")
def picture() -> Response:
    """Return a page as PNG, in so many pixels a point; the server rounds to halves."""
    document, pages, page = _asked()
    try:
        scale = min(max(round(2 * float(request.args.get("scale", "1"))) / 2, 0.5), MOST_SCALE)
    except (ValueError, OverflowError):
        abort(400, "a scale is needed")
    found = desk().pictures.get(
        (document, page, scale), lambda: draw_page(pages.original.as_py(), document, page, scale)
    )
    return Response(found, mimetype="image/png")


@pictures.get("/words")
def words() -> Response:
    """Return the words of a page: start and end in code points, box in points, direction of their line."""
    document, pages, page = _asked()
    return jsonify({"words": pages.words(page, desk().documents.plain(document).text)})
