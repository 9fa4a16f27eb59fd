"""Rows that name pages or boxes of PDFs: what they say, and the code points that they mean (format ``gold-pages``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from focuseval.collection.index import Collection
from focuseval.collection.pages import Pages
from focuseval.data.fields import NAMES, layers, short, value
from focuseval.data.remarks import Remark, counted_kinds
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.rows import Row, document_of, first_text, parsed, real, span_of, whole
from focuseval.placing.normalise import normal_form
from focuseval.placing.occurrences import find_all
from focuseval.placing.pointers import PageBox, covered_spans

_CORNERS = tuple(map(str.split, ("l t r b", "left top right bottom", "x0 y0 x1 y1", "x1 y1 x2 y2")))
_SIZES = tuple(map(str.split, ("x y width height", "x y w h", "left top width height")))
_FRAMES = (("page_width", "page_height"), ("layout_width", "layout_height"))
_TEXTS = frozenset((*NAMES["text"], *NAMES["quote"])) - {"chunk"}
_LISTS = frozenset((*NAMES["results"], *NAMES["references"]))


def places_of(row: Mapping[str, Any], at: Place) -> list[PageBox]:
    """Return the pages and boxes that a row or an object of a list names, none where it names none.

    >>> from focuseval.errors import Place
    >>> places_of({"page_no": 3, "bbox": {"l": 1, "t": 9, "r": 5, "b": 4}}, Place("run.json"))
    [PageBox(page=3, box=(1.0, 4.0, 5.0, 9.0), origin='bottom', frame=None)]
    """
    around = [*layers(row), *(inner for layer in layers(row) if isinstance(inner := layer.get("dl_meta"), Mapping))]
    for layer in around:
        proofs = [one for item in (layer, *_listed(layer.get("doc_items"))) for one in _listed(item.get("prov"))]
        if proofs:
            return [_place(proof, layer, at) for proof in proofs]
    for layer in around:
        many = next((_parsed(layer[name]) for name in ("boxes", "bboxes") if layer.get(name)), None)
        if isinstance(many, list):
            each = [one if isinstance(one, Mapping) and "bbox" in one else {"bbox": one} for one in many]
            return [_place(one, layer, at) for one in each]
        if isinstance(coordinates := layer.get("coordinates"), Mapping):
            return [_place({**coordinates, "bbox": coordinates.get("points")}, layer, at)]
        if value(layer, "page", at) is not None or value(layer, "bbox", at) is not None:
            return [_place({}, layer, at)]
    return []


def _listed(content: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []


def _place(own: Mapping[str, Any], around: Mapping[str, Any], at: Place) -> PageBox:
    """Return one page or box; what it does not say itself stands around it."""
    page = next((n for o in (own, around) if (n := whole(value(o, "page", at), "page", at)) is not None), None)
    if page is None:
        raise FormatError(f"expected a page beside the box, found {', '.join(around)}", at=at, remedy="add page_number")
    given = value(own, "bbox", at)
    given = value(around, "bbox", at) if given is None and not own else given
    origin, box = _box(given, at)
    said = next((o[k] for o in (own, around) for k in ("coord_origin", "origin") if isinstance(o.get(k), str)), "")
    if said:
        word = str(said).lower()
        origin = "bottom" if "bottom" in word else "top" if "top" in word else origin
    sides = [[real(o.get(side), side, at) for side in names] for o in (own, around) for names in _FRAMES]
    frame = next(((w, h) for w, h in sides if w and h), None)
    return PageBox(page, box, "top" if frame and not origin else origin, frame)


def _parsed(content: Any) -> Any:
    """Return what a field of a table holds as text: a list or an object in JSON, or four numbers."""
    found = parsed(content if not isinstance(content, str) or content.lstrip()[:1] in {"[", "{"} else f"[{content}]")
    return content if isinstance(found, str) else found


def _box(given: Any, at: Place) -> tuple[str, tuple[float, float, float, float] | None]:
    """Return where y begins, if names or order of the sides say it, and a box as smaller and larger x and y."""
    given = _parsed(given)
    if given is None:
        return "", None
    origin = ""
    if isinstance(given, Mapping):
        known = {str(name).lower(): number for name, number in given.items()}
        said = str(known.get("coord_origin", known.get("origin", ""))).lower()
        origin = "bottom" if "bottom" in said else "top" if "top" in said else ""
        names = next((names for names in (*_CORNERS, *_SIZES) if known.keys() >= set(names)), None)
        numbers = [] if names is None else [real(known[name], name, at) for name in names]
        sides = [number for number in numbers if number is not None]
        if names in _SIZES and len(sides) == 4:
            sides[2:] = sides[0] + sides[2], sides[1] + sides[3]
        elif names in _CORNERS[:2] and not origin and len(sides) == 4:  # sides with names say which one is above
            origin = "bottom" if sides[1] > sides[3] else "top"
    else:
        flat = given if isinstance(given, list | tuple) else ()
        points = [one for one in flat if isinstance(one, list | tuple) and len(one) == 2]
        if points:  # corners, in any order
            across, along = (
                [number for one in points if (number := real(one[side], "bbox", at)) is not None] for side in (0, 1)
            )
            flat = (min(across), min(along), max(across), max(along)) if len(across) == len(along) == 4 else ()
        sides = [number for one in flat if (number := real(one, "bbox", at)) is not None]
    if len(sides) != 4:
        what = f"expected a box (four numbers, or l, t, r, b), found {short(given)}"
        raise FormatError(what, at=at, remedy="see 'focuseval formats gold-pages'")
    x0, y0, x1, y1 = sides
    origin = origin or ("bottom" if y0 > y1 else "")
    return origin, (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


class Paged:
    """The rows of a file in which pages and boxes have become code points, and what was noticed on the way."""

    def __init__(self, rows: Iterable[Row], documents: Collection | None, file: str, *, gold: bool) -> None:
        self._documents, self._gold = documents, gold
        self._known: dict[str, Pages | None] = {}
        self.empty = self.hulls = 0
        every = list(rows)
        objects = [(one, Place(file, row.line), outer) for row in every for one, outer in _objects(row.values)]
        named = [(one, places, at, outer) for one, at, outer in objects if (places := places_of(one, at))]
        zero = any(_from_zero(one, at) for one, _, at, _ in named)
        self._places = {
            id(one): [p._replace(page=p.page + zero) if _plain(one) else p for p in places]
            for one, places, _, _ in named
        }
        unsaid = [one for one in named if any(p.box is not None and not p.origin for p in self._places[id(one[0])])]
        if unsaid:
            origin = self._origin(unsaid)
            for one, *_ in unsaid:
                self._places[id(one)] = [p if p.origin else p._replace(origin=origin) for p in self._places[id(one)]]
        self.rows = [new for row in every for new in self._row(row, Place(file, row.line))] if named else every

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Boxes without text, and results that reach over text between their pieces."""
        return counted_kinds(empty_boxes=self.empty, pieces=self.hulls)

    def _row(self, row: Row, at: Place) -> Iterator[Row]:
        values = dict(row.values)
        for key, items in row.values.items():
            if key in _LISTS and isinstance(items, list):
                values[key] = [new for item in items for new in self._placed(item, values, at)]
        inner = self._placed(row.values, row.values, at) if id(row.values) in self._places else [values]
        yield from (Row(row.line, one) for one in inner)

    def _placed(self, one: Any, outer: Mapping[str, Any], at: Place) -> list[Any]:
        """Return an object with its code points: several of a highlight in pieces, itself where it names no page."""
        places = self._places.get(id(one))
        if not places or span_of(one, at)[0] is not None:
            return [one]
        text = _said(one, at)
        pages, name = self._pages(one, outer, at)
        if pages is None:
            if text:
                return [one]
            what = f"expected a PDF of the collection for page {places[0].page}, found {name!r} without pages"
            raise FormatError(what, at=at, remedy="give the PDFs with --docs or --index")
        found = covered_spans(pages, places, at)
        boxed = all(place.box is not None for place in places)
        if text and not (boxed and found):  # it gets its place where it stands once on the page
            start, end = pages.span(places[0].page)[0], pages.span(places[-1].page)[1]
            held = find_all(self._text(name)[start:end], text)
            span = {"start": start + held[0], "end": start + held[0] + len(text)} if len(held) == 1 else {}
            return [{**one, "doc": name, **span}]
        rest = {key: said for key, said in one.items() if not (key in _TEXTS and isinstance(said, str))} | {"doc": name}
        if not found:
            self.empty += 1
            start = pages.span(places[0].page)[0]
            return [] if self._gold and one is not outer else [rest | {"start": start, "end": start}]
        if self._gold:
            return [rest | {"start": start, "end": end} for start, end in found]
        self.hulls += len(found) > 1
        return [rest | {"start": found[0][0], "end": found[-1][1]}]

    def _pages(self, one: Mapping[str, Any], outer: Mapping[str, Any], at: Place) -> tuple[Pages | None, str]:
        name = document_of(one, at) or _file_of(one) or document_of(outer, at) or _file_of(outer)
        if name is None:
            raise FormatError("expected a document beside the page, found none", at=at, remedy="add the field 'doc'")
        if self._documents is None:
            if _said(one, at):
                return None, name
            raise MissingDataError(f"{at}: pages and boxes need the PDFs: give docs= or index=")
        if name not in self._known:
            row = int(self._documents.find([name])[0])
            self._known[name] = self._documents.pages(row) if row >= 0 else None
        return self._known[name], name

    def _text(self, name: str) -> str:
        """Return the text of a document that has pages."""
        return "" if self._documents is None else self._documents.text(int(self._documents.find([name])[0]))

    def _origin(self, unsaid: Sequence[tuple[Mapping[str, Any], list[PageBox], Place, Mapping[str, Any]]]) -> str:
        """Return whether boxes that do not say it count from the top or the bottom: where they hold text, or theirs."""
        votes = {"top": 0, "bottom": 0}
        for one, _, at, outer in unsaid:
            pages, name = self._pages(one, outer, at)
            if pages is None:
                continue
            text = normal_form(_said(one, at))
            held = {}
            for origin in votes:
                spans = covered_spans(pages, [p._replace(origin=p.origin or origin) for p in self._places[id(one)]], at)
                found = normal_form(" ".join(self._text(name)[low:high] for low, high in spans))
                held[origin] = bool(found) and (not text or found in text or text in found)
            if held["top"] != held["bottom"]:
                votes["top" if held["top"] else "bottom"] += 1
        if bool(votes["top"]) == bool(votes["bottom"]):
            what = "expected boxes that say where y begins, found text in them from the top and from the bottom"
            raise FormatError(what, at=unsaid[0][2], remedy='add "origin": "top" or "origin": "bottom" to the rows')
        return "top" if votes["top"] else "bottom"


def _said(one: Mapping[str, Any], at: Place) -> str:
    """Return the quote or the text of an object, nothing where it has none."""
    return first_text(one, "quote", at) or first_text(one, "text", at) or ""


def _objects(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield a row and the objects of its lists, each with the row around it."""
    items = [item for key in row if key in _LISTS and isinstance(row[key], list) for item in row[key]]
    yield from ((item, row) for item in (items or [row]) if isinstance(item, Mapping))


def _plain(one: Mapping[str, Any]) -> bool:
    """Say whether a page is called ``page``, which some count from 0."""
    return any("page" in layer and not {"page_number", "page_no", "page_num"} & layer.keys() for layer in layers(one))


def _from_zero(one: Mapping[str, Any], at: Place) -> bool:
    inner = layers(one) if _plain(one) else ()
    pages = ((whole(layer.get("page"), "page", at), str(layer.get("page_label", ""))) for layer in inner)
    return any(page == 0 or (page is not None and label.isdigit() and int(label) == page + 1) for page, label in pages)


def _file_of(one: Mapping[str, Any]) -> str | None:
    """Return the file that docling names as the origin of a chunk."""
    inner = [o for layer in layers(one) for o in (layer, layer.get("dl_meta")) if isinstance(o, Mapping)]
    named = [o["origin"].get("filename") for o in inner if isinstance(o.get("origin"), Mapping)]
    return next((str(name) for name in named if name), None)
