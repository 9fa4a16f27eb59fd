r"""One PDF → its text, its pages and blocks, and a box for every character.

The text is that of the pages in their order, and on a page that of its lines in the order in which the file draws them,
as PDFium reads them: programs that set type draw a column after the other, and right-to-left scripts come in the order
that PDFium gives. The rest is decided here, and `RULES` counts the versions of these rules, so that one file has one
text for ever; an index names it, with the version of PDFium and the options.

*Lines* end with ``\n``; spaces at their ends are dropped. *Blocks* (``/pdf[1]/page[3]/block[2]``) are lines in which
each stands below the one before, at about the line distance of the document and in letters of about the same height;
between blocks, and between pages, stands an empty line. *Hyphens*: a hyphen, or a soft hyphen, at the end of a line
whose next line in the block begins with a small letter is dropped together with the line end; soft hyphens elsewhere
are dropped; ``hyphens=keep`` keeps all of them. *Ligatures* (ﬁ, ﬂ, ﬀ …) become their letters, which share the box;
``ligatures=keep`` keeps them.
*Headers and footers*: a line in the upper or lower tenth of a page that stands, but for its digits, on at least three
pages and on a quarter of all, is an element ``header`` or ``footer`` and no block; ``repeated=drop`` leaves it out.
*Columns*: the order of the file; a line that does not stand below the one before begins a block. A *page without text*
(a scan) is an element without text, counted and named.

A line is stored as a box with a direction, and for each of its characters the place, in 1/65535 of the line's length,
where it begins; it ends where the next one begins. Text that stands aslant is stored a character at a time, with the
middle of its box alone (a quarter of its width and height), because boxes of neighbours overlap there.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.pdfium import pdfium_version, read_characters
from focuseval.collection.trees import Tree
from focuseval.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.pdfium import PageCharacters

RULES = 1
"""Version of the rules above: another one may give another text."""

CHOICES = {"hyphens": ("join", "keep"), "ligatures": ("split", "keep"), "repeated": ("keep", "drop")}
"""Options and their values, the default first."""

LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
EDGES = 65535
"""Parts of a line's length in which places of characters are counted."""

_SOFT, _MARK = 0x00AD, 2
_HYPHENS = (_MARK, _SOFT, ord("-"), 0x2010)
_EDGE, _LEAST, _SHARE = 0.1, 3, 4
_LEADING, _HEIGHT, _ASLANT = 1.2, 1.25, 1.8


@dataclass(frozen=True)
class PdfRules:
    """What people want differently; the defaults are those of `CHOICES`.

    >>> PdfRules.parse("hyphens=keep"), PdfRules.parse("").described
    (PdfRules(hyphens='keep', ligatures='split', repeated='keep'), 'hyphens=join ligatures=split repeated=keep')
    """

    hyphens: str = "join"
    ligatures: str = "split"
    repeated: str = "keep"

    @classmethod
    def parse(cls, text: str) -> PdfRules:
        """Read ``name=value,name=value``."""
        given = {}
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            if value not in CHOICES.get(name, ()):
                known = [f"{key}={one}" for key, values in CHOICES.items() for one in values]
                what = f"expected how to read PDFs ({', '.join(known)}), found {part!r}"
                raise UsageError(f"{what}; {did_you_mean(part, known, 'separate several by commas')}")
            given[name] = value
        return cls(**given)

    @property
    def described(self) -> str:
        """The options in words that `parse` reads, but for the commas."""
        return " ".join(f"{name}={value}" for name, value in vars(self).items())

    def signature(self) -> str:
        """Return all that a text depends on besides its file."""
        return f"rules {RULES}, {self.described}, PDFium {pdfium_version()}"


@dataclass(frozen=True, eq=False)
class Laid:
    """Where the characters of a document stand, as columns."""

    pages: dict[str, NDArray[Any]]
    """A row per page: where its text starts and ends, its width and height in points, its rotation in degrees."""
    lines: dict[str, NDArray[Any]]
    """A row per line: start and end in the text; box; direction, 0 to the right, 1 down, 2 to the left, 3 up."""
    edges: NDArray[np.uint16]
    """For every code point of the text, how far into its line it begins; 0 for what stands in no line."""
    original: bytes
    """The file."""

    @property
    def scans(self) -> NDArray[np.int64]:
        """The numbers of pages without text."""
        return np.flatnonzero(self.pages["start"] == self.pages["end"]) + 1


def read_pdf(data: bytes, file: str, rules: PdfRules | None = None) -> Tree:
    """Read a PDF: elements as of an XML document, and where its characters stand."""
    return lay_out(list(read_characters(data, file)), file, rules or PdfRules(), data)


@dataclass
class _Lines:
    """The characters of a document, without what is dropped, and the lines in which they stand."""

    code: NDArray[np.uint32]
    box: NDArray[np.float32]
    first: NDArray[np.int64]
    """The first character of every line, and the end of the last."""
    page: NDArray[np.int64]
    """The page of every line, from 0."""

    def kept(self, keep: NDArray[np.bool_]) -> _Lines:
        """Return the characters to keep; lines that become empty go, too."""
        first = np.append(0, np.cumsum(keep))[self.first]
        filled = np.diff(first) > 0
        return _Lines(self.code[keep], self.box[keep], np.append(first[:-1][filled], first[-1]), self.page[filled])


def _lines(pages: Sequence[PageCharacters], rules: PdfRules) -> _Lines:
    code = np.concatenate([page.code for page in pages])
    box = np.concatenate([page.box for page in pages])
    flags = np.concatenate([page.flags for page in pages])
    counts = [len(page.code) for page in pages]
    number = np.repeat(np.arange(len(pages)), counts)
    code[code == 9] = 32
    generated = np.flatnonzero((flags & 1 > 0) & (code == 32))
    generated = generated[generated > 0]
    box[generated, 0] = box[generated, 2] = box[generated - 1, 2]  # they have no extent of their own
    box[generated, 1], box[generated, 3] = box[generated - 1, 1], box[generated - 1, 3]
    ends = (code == 10) | (code == 13) | (flags & 2 > 0)
    begins = np.append(True, ends[:-1] | (np.diff(number) > 0)) if len(code) else np.zeros(0, np.bool_)
    first = np.append(np.flatnonzero(begins), len(code))
    lines = _Lines(code, box, first, number[first[:-1]] if len(code) else number)
    surrogate = (code >= 0xD800) & (code < 0xE000)
    nothing = ((code < 32) & (code != _MARK)) | surrogate | (code == 0xFFFE) | (code == 0xFFFF) | (code > 0x10FFFF)
    lines = lines.kept(~nothing)
    blank = lines.code == 32
    place, which = np.arange(len(blank)), np.repeat(np.arange(len(lines.page)), np.diff(lines.first))
    solid = ~blank
    if len(blank):  # spaces at either end of a line go
        before = np.maximum.accumulate(np.where(solid, place, -1)) >= lines.first[which]
        behind = np.minimum.accumulate(np.where(solid, place, len(blank))[::-1])[::-1] < lines.first[which + 1]
        lines = lines.kept(before & behind)
    if rules.ligatures == "split" and np.isin(lines.code, list(LIGATURES)).any():
        lines = _split(lines)
    if rules.hyphens == "join":
        last = np.zeros(len(lines.code), np.bool_)
        last[lines.first[1:] - 1] = True
        lines = lines.kept((lines.code != _SOFT) | last)
    return lines


def _split(lines: _Lines) -> _Lines:
    """Return ligatures as their letters, each with the ligature's box; they share it later."""
    letters = [LIGATURES.get(code, "") for code in lines.code.tolist()]
    count = np.array([max(1, len(word)) for word in letters], np.int64)
    code, begin = np.repeat(lines.code, count), np.cumsum(count) - count
    for place in np.flatnonzero(count > 1).tolist():
        code[begin[place] : begin[place] + count[place]] = [ord(letter) for letter in letters[place]]
    first = np.append(0, np.cumsum(count))[lines.first]
    return _Lines(code, np.repeat(lines.box, count, axis=0), first, lines.page)


def _directions(lines: _Lines) -> NDArray[np.int8]:
    """Return the direction of every line, from its first character to its last."""
    middle = (lines.box[:, :2] + lines.box[:, 2:]) / 2
    x, y = (middle[lines.first[1:] - 1] - middle[lines.first[:-1]]).T
    across, down = np.where(x < 0, 2, 0), np.where(y > 0, 1, 3)
    return np.where(np.abs(x) >= np.abs(y), across, down).astype(np.int8)


def _around(box: NDArray[np.float32], first: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the boxes around groups of boxes."""
    low, high = np.minimum.reduceat(box[:, :2], first[:-1]), np.maximum.reduceat(box[:, 2:], first[:-1])
    return np.concatenate([low, high], axis=1)


def _extents(box: NDArray[np.float32], direction: NDArray[np.int8]) -> tuple[NDArray[np.float32], ...]:
    """Return where boxes begin and end along the lines of their directions, and across them, lines counted onwards."""
    x0, y0, x1, y1 = box.T
    along = [(x0, x1), (y0, y1), (-x1, -x0), (-y1, -y0)]
    across = [(y0, y1), (-x1, -x0), (y0, y1), (x0, x1)]
    picked = [np.choose(direction, [pair[end] for pair in way]) for way in (along, across) for end in (0, 1)]
    return tuple(picked)


def _begins(page: NDArray[np.int64], direction: NDArray[np.int8], box: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Say of every line whether a block begins with it."""
    left, right, top, bottom = _extents(box, direction)
    height = np.maximum(bottom - top, 0.1)
    follows = (np.diff(page) == 0) & (np.diff(direction) == 0)
    larger = np.maximum(height[1:], height[:-1])
    follows &= larger <= _HEIGHT * np.minimum(height[1:], height[:-1])
    follows &= (left[1:] < right[:-1]) & (left[:-1] < right[1:])
    distance = np.diff(top) / larger
    follows &= distance > 0.3
    near = distance[follows & (distance < 2)]
    usual = float(np.clip(np.median(near), 0.8, 1.6)) if len(near) else 1.0
    follows &= distance <= _LEADING * usual
    return np.append(True, ~follows)


def _repeated(lines: _Lines, box: NDArray[np.float32], pages: Sequence[PageCharacters]) -> dict[int, str]:
    """Return the lines that are headers or footers."""
    height = np.array([page.height for page in pages])[lines.page]
    upper, lower = box[:, 3] <= _EDGE * height, box[:, 1] >= (1 - _EDGE) * height
    found: dict[tuple[str, str], list[int]] = {}
    for line in np.flatnonzero(upper | lower).tolist():
        text = _decoded(lines.code[lines.first[line] : lines.first[line + 1]])
        kind = "header" if upper[line] else "footer"
        found.setdefault((kind, re.sub(r"\d+", "0", text)), []).append(line)
    least = max(_LEAST, -(-len(pages) // _SHARE))
    often = {key: rows for key, rows in found.items() if len(set(lines.page[rows].tolist())) >= least}
    return {line: kind for (kind, _), rows in often.items() for line in rows}


def _decoded(code: NDArray[np.uint32]) -> str:
    return np.where(code == _MARK, ord("-"), code).astype("<u4").tobytes().decode("utf-32-le")


def _small(code: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Say which code points are small letters."""
    known, where = np.unique(code, return_inverse=True)
    return np.array([chr(one).islower() for one in known.tolist()], np.bool_)[where]


def lay_out(pages: Sequence[PageCharacters], file: str, rules: PdfRules, original: bytes) -> Tree:
    """Turn the characters of pages into a tree and the places of its characters."""
    lines = _lines(pages, rules)
    size = np.array([(page.width, page.height) for page in pages], np.float32)
    turned = np.array([page.rotation for page in pages], np.int16)
    if not len(lines.page):
        none = np.zeros(len(pages), np.int32)
        columns: dict[str, NDArray[Any]] = {
            "start": none,
            "end": none,
            "width": size[:, 0],
            "height": size[:, 1],
            "rotation": turned,
        }
        empty = {name: np.zeros(0, kind) for name, kind in LINE.items()}
        return _tree(file, "", [], Laid(columns, empty, np.zeros(0, np.uint16), original))
    box = _around(lines.box, lines.first)
    repeated = _repeated(lines, box, pages)
    if repeated and rules.repeated == "drop":
        gone = np.isin(np.arange(len(lines.page)), list(repeated))
        lines, box, repeated = lines.kept(np.repeat(~gone, np.diff(lines.first))), box[~gone], {}
    direction = _directions(lines)
    begins = _begins(lines.page, direction, box)
    running = np.isin(np.arange(len(begins)), list(repeated))
    begins |= running | np.append(False, running[:-1])
    joined = np.zeros(len(begins), np.bool_)
    if rules.hyphens == "join":
        ends = np.isin(lines.code[lines.first[1:-1] - 1], _HYPHENS) & (np.diff(lines.first)[:-1] > 1)
        joined[1:] = ends & ~begins[1:] & _small(lines.code[lines.first[1:-1]])
        keep = np.ones(len(lines.code), np.bool_)
        keep[lines.first[1:-1][joined[1:]] - 1] = False
        lines = lines.kept(keep)
    gap = np.where(joined, 0, np.where(begins, 2, 1))
    gap[0] = 0
    length = np.diff(lines.first)
    start = np.cumsum(length + gap) - length
    code = np.full(int(start[-1] + length[-1]), 10, np.uint32)
    place = np.arange(len(lines.code)) + np.repeat(start - lines.first[:-1], length)
    code[place] = lines.code
    code[code == _MARK] = ord("-")
    edges = np.zeros(len(code), np.uint16)
    stored, edges[place] = _stored(lines, direction, start)
    cuts = np.searchsorted(lines.page, np.arange(len(pages) + 1))
    columns = {"start": np.zeros(len(pages), np.int32), "end": np.zeros(len(pages), np.int32)}
    at = 0
    for number, (low, high) in enumerate(pairwise(cuts.tolist())):
        first, at = (start[low], start[high - 1] + length[high - 1]) if low < high else (at, at)
        columns["start"][number], columns["end"][number] = first, at
    columns |= {"width": size[:, 0], "height": size[:, 1], "rotation": turned}
    heads = np.flatnonzero(begins)
    tails = np.append(heads[1:], len(begins)) - 1
    blocks = [
        (int(lines.page[head]), repeated.get(head, "block"), int(start[head]), int(start[tail] + length[tail]))
        for head, tail in zip(heads.tolist(), tails.tolist(), strict=True)
    ]
    return _tree(file, _decoded(code), blocks, Laid(columns, stored, edges, original))


LINE = {"start": "i4", "end": "i4", "direction": "i1", "x0": "f4", "y0": "f4", "x1": "f4", "y1": "f4"}
"""Columns of lines."""


def _stored(
    lines: _Lines, direction: NDArray[np.int8], start: NDArray[np.int64]
) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint16]]:
    """Return the lines as they are stored, and where in them the characters begin."""
    box = _around(lines.box, lines.first)
    which = np.repeat(np.arange(len(start)), np.diff(lines.first))
    left, _, top, bottom = _extents(lines.box, direction[which])
    _, _, line_top, line_bottom = _extents(box, direction)
    tall = np.maximum.reduceat(bottom - top, lines.first[:-1])
    aslant = (line_bottom - line_top > _ASLANT * np.maximum(tall, 0.1))[which]
    fresh = aslant | np.append(False, aslant[:-1])
    fresh[lines.first[:-1]] = True
    first = np.append(np.flatnonzero(fresh), len(fresh))
    of = np.repeat(np.arange(len(first) - 1), np.diff(first))
    box, turned = _around(lines.box, first), direction[which[first[:-1]]]
    alone = aslant[first[:-1]]
    middle = (box[alone][:, [0, 1, 0, 1]] + box[alone][:, [2, 3, 2, 3]]) / 2
    box[alone] = middle + (box[alone] - middle) / 4
    low, high, _, _ = _extents(box, turned)
    begin = np.clip(left - low[of], 0, None).astype(np.float64)
    # Places never go back within a line; letters that begin at one place share the room up to the next.
    begin += of * 1e6
    begin = np.maximum.accumulate(begin)
    ties = np.append(True, np.diff(begin) > 0)
    head = np.flatnonzero(ties)
    count = np.diff(np.append(head, len(begin)))
    limit = (high - low).astype(np.float64)[of] + of * 1e6
    after = np.append(begin[head[1:]], np.inf)
    room = np.minimum(after, limit[head]) - begin[head]
    inside = np.arange(len(begin)) - np.repeat(head, count)
    begin += inside / np.repeat(count, count) * np.repeat(np.maximum(room, 0), count)
    share = (begin - of * 1e6) / np.maximum(high - low, 1e-6)[of]
    edges = np.clip(np.round(share * EDGES), 0, EDGES).astype(np.uint16)
    row = which[first[:-1]]
    begins = start[row] + first[:-1] - lines.first[row]
    columns: dict[str, NDArray[Any]] = {"start": begins, "end": begins + np.diff(first), "direction": turned}
    columns |= dict(zip(("x0", "y0", "x1", "y1"), box.T, strict=True))
    return {name: columns[name].astype(kind) for name, kind in LINE.items()}, edges


def _tree(file: str, text: str, blocks: list[tuple[int, str, int, int]], laid: Laid) -> Tree:
    """Return the elements of a document: the file, its pages, their blocks."""
    tree, pages = Tree(file, pieces=[text], position=len(text), laid=laid), laid.pages
    counts = Counter(page for page, *_ in blocks)
    rows = iter(blocks)
    elements: list[tuple[str, int, int, int, int]] = [("pdf", 1, 0, len(text), -1)]
    nodes: list[tuple[int, int, int]] = []
    for number, (start, end) in enumerate(zip(pages["start"].tolist(), pages["end"].tolist(), strict=True)):
        page = len(elements)
        elements.append(("page", 2, start, end, 0))
        for _ in range(counts[number]):
            _, tag, begin, stop = next(rows)
            nodes.append((len(elements), begin, stop))
            elements.append((tag, 3, begin, stop, page))
    tree.tag = [element[0] for element in elements]
    for _, depth, begin, stop, parent in elements:
        tree.depth.append(depth)
        tree.start.append(begin)
        tree.end.append(stop)
        tree.parent.append(parent)
    for row, begin, stop in nodes:
        tree.node_parent.append(row)
        tree.node_start.append(begin)
        tree.node_end.append(stop)
    return tree


def page_ranges(pages: NDArray[np.int64]) -> str:
    """Return numbers of pages in words.

    >>> page_ranges(np.array([2, 3, 4, 9]))
    'pages 2–4, 9'
    """
    first = pages[np.append(True, np.diff(pages) > 1)].tolist()
    last = pages[np.append(np.diff(pages) > 1, True)].tolist()
    parts = [f"{low}" if low == high else f"{low}–{high}" for low, high in zip(first, last, strict=True)]
    return f"page{'s' if len(pages) > 1 else ''} {', '.join(parts)}"
