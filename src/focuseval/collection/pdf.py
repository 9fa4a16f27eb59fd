r"""One PDF → its text, its pages and blocks, and a box for every character.

The text is that of the pages in their order, and on a page that of its lines in the order in which the file draws them,
as PDFium reads them: programs that set type draw a column after the other. Right-to-left scripts come in the order that
PDFium gives: the letters in the order in which they are read, in a line of two directions from its right end on, each
word as it is read. Lines that run down the page and begin at one height, which PDFium gives from left to right, are
read from right to left. Text outside of the page's crop box is read, too. The rest is decided here, and `RULES` counts
the versions of these rules, so that one file has one text for ever; an index names it, with the version of PDFium and
the options.

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

A line is stored as a box with a direction, and for each of its characters one byte: its share of the line's length,
from where it begins to where the next one does. A character, mostly a space, that is wider than twice the line's height
is stored as a line of its own, and so is every character of a line of two directions. Text that stands aslant is stored
a character at a time, with the middle of its box alone (a quarter of its width and height), because boxes of neighbours
overlap there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.pages import LINE, PAGE, Pages
from focuseval.collection.pdfium import PageCharacters, read_characters
from focuseval.collection.trees import Tree
from focuseval.data.spans import spread
from focuseval.errors import UsageError, did_you_mean

_Shape = tuple[float, float, int]  # a page's width, height and rotation
RULES = 1  # version of the rules above: another one may give another text
CHOICES = {"hyphens": ("join", "keep"), "ligatures": ("split", "keep")}
CHOICES |= dict.fromkeys(("repeated", "original"), ("keep", "drop"))
"""Options and their values, the default first."""

LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}

_SOFT, _MARK = 0x00AD, 2
_HYPHENS = (_MARK, _SOFT, ord("-"), 0x2010)
_EDGE, _LEAST, _SHARE = 0.1, 3, 4
_LEADING, _HEIGHT, _ASLANT, _WIDE, _BACK = 1.2, 1.25, 1.8, 2.0, 0.1
_STEP = 127  # the step of the widest character of a line; one that takes in a dropped hyphen has up to twice as much
_TOGETHER = 30_000  # characters of pages that are read together


@dataclass(frozen=True)
class PdfRules:
    """What people want differently; the defaults are those of `CHOICES`.

    >>> PdfRules.parse("hyphens=keep,original=drop").described
    'hyphens=keep ligatures=split repeated=keep original=drop'
    """

    hyphens: str = "join"
    ligatures: str = "split"
    repeated: str = "keep"
    original: str = "keep"
    """Whether the index keeps the file, of which pictures are made and into which annotations are written."""

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
        """The options in words that `parse` reads, but for the commas; `original` where it is not kept."""
        given = (f"{name}={value}" for name, value in vars(self).items())
        return " ".join(one for one in given if one != "original=keep")

    def signature(self) -> str:
        """Return all that a text depends on besides its file."""
        import pypdfium2  # noqa: PLC0415  an extra, which only PDFs need

        return f"rules {RULES}, {self.described}, PDFium {pypdfium2.PDFIUM_INFO.version}"


@dataclass
class _Lines:
    """The characters of some pages, without what is dropped, and the lines in which they stand."""

    code: NDArray[np.uint32]
    box: NDArray[np.float32]
    first: NDArray[np.int64]  # the first character of every line, and the end of the last
    page: NDArray[np.int64]  # the page of every line, from 0

    def kept(self, keep: NDArray[np.bool_]) -> _Lines:
        """Return the characters to keep; lines that become empty go, too."""
        first = np.append(0, np.cumsum(keep))[self.first]
        filled = np.diff(first) > 0
        return _Lines(self.code[keep], self.box[keep], np.append(first[:-1][filled], first[-1]), self.page[filled])

    def taken(self, order: NDArray[np.int64]) -> _Lines:
        """Return the lines in another order."""
        length = np.diff(self.first)[order]
        rows = spread(self.first[order], length)
        return _Lines(self.code[rows], self.box[rows], np.append(0, np.cumsum(length)), self.page[order])


def _lines(pages: Sequence[PageCharacters], number: int, rules: PdfRules) -> _Lines:
    """Return the lines of some pages, of which the first has a number, from 0."""
    code = np.concatenate([page.code for page in pages])
    box = np.concatenate([page.box for page in pages])
    flags = np.concatenate([page.flags for page in pages])
    page = np.repeat(np.arange(number, number + len(pages)), [len(page.code) for page in pages])
    code[code == 9] = 32
    generated = np.flatnonzero((flags & 1 > 0) & (code == 32))
    generated = generated[generated > 0]
    box[generated, 0] = box[generated, 2] = box[generated - 1, 2]  # they have no extent of their own
    box[generated, 1], box[generated, 3] = box[generated - 1, 1], box[generated - 1, 3]
    ends = (code == 10) | (code == 13) | (flags & 2 > 0)
    begins = np.append(True, ends[:-1] | (np.diff(page) > 0))[: len(code)]
    first = np.append(np.flatnonzero(begins), len(code))
    surrogate = (code >= 0xD800) & (code < 0xE000)
    nothing = ((code < 32) & (code != _MARK)) | surrogate | (code == 0xFFFE) | (code == 0xFFFF) | (code > 0x10FFFF)
    solid = ~nothing & (code != 32)
    place, which = np.arange(len(code)), np.cumsum(begins) - 1
    before = np.maximum.accumulate(np.where(solid, place, -1)) >= first[which]
    behind = np.minimum.accumulate(np.where(solid, place, len(code))[::-1])[::-1] < first[which + 1]
    lines = _Lines(code, box, first, page[first[:-1]]).kept(before & behind & ~nothing)  # no spaces at a line's ends
    if rules.ligatures == "split" and (lines.code >= min(LIGATURES)).any():
        letters = [LIGATURES.get(code, "") for code in lines.code.tolist()]
        count = np.array([max(1, len(word)) for word in letters], np.int64)
        code, begin = np.repeat(lines.code, count), np.cumsum(count) - count
        for row in np.flatnonzero(count > 1).tolist():
            code[begin[row] : begin[row] + count[row]] = [ord(letter) for letter in letters[row]]
        first = np.append(0, np.cumsum(count))[lines.first]
        lines = _Lines(code, np.repeat(lines.box, count, axis=0), first, lines.page)  # the letters share the box later
    if rules.hyphens == "join" and (soft := lines.code == _SOFT).any():
        soft[lines.first[1:] - 1] = False
        lines = lines.kept(~soft)
    return lines


class _Measured(NamedTuple):
    """What is kept of the lines of some pages: their characters with their shares of the lines, and their boxes."""

    code: NDArray[np.uint32]
    steps: NDArray[np.uint8]
    length: NDArray[np.int64]  # characters of every line
    page: NDArray[np.int64]
    box: NDArray[np.float32]
    direction: NDArray[np.int8]
    run: NDArray[np.int64]
    """The first characters of lines as they are stored, wide characters and those that stand aslant apart."""
    run_box: NDArray[np.float32]
    run_direction: NDArray[np.int8]


def _around(box: NDArray[np.float32], first: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the boxes around groups of boxes."""
    low, high = np.minimum.reduceat(box[:, :2], first[:-1]), np.maximum.reduceat(box[:, 2:], first[:-1])
    return np.concatenate([low, high], axis=1)


def _extents(box: NDArray[np.float32], direction: NDArray[np.int8]) -> tuple[NDArray[np.float32], ...]:
    """Return where boxes begin and end along the lines of their directions, and across them, lines counted onwards."""
    x0, y0, x1, y1 = box.T
    if not direction.any():
        return x0, x1, y0, y1
    along = [(x0, x1), (y0, y1), (-x1, -x0), (-y1, -y0)]
    across = [(y0, y1), (-x1, -x0), (y0, y1), (x0, x1)]
    return tuple(np.choose(direction, [pair[end] for pair in way]) for way in (along, across) for end in (0, 1))


def _measured(lines: _Lines) -> _Measured:
    """Return lines with their directions, and where in them their characters begin."""
    box = _around(lines.box, lines.first)
    middle = (lines.box[:, :2] + lines.box[:, 2:]) / 2
    x, y = (middle[lines.first[1:] - 1] - middle[lines.first[:-1]]).T  # from the first character to the last
    across, down = np.where(x < 0, 2, 0), np.where(y > 0, 1, 3)
    direction = np.where(np.abs(x) >= np.abs(y), across, down).astype(np.int8)
    back = (direction[1:] == 1) & (direction[:-1] == 1) & (np.diff(lines.page) == 0) & (np.diff(box[:, 0]) > 0)
    back &= np.abs(np.diff(box[:, 1])) < (box[:, 2] - box[:, 0])[1:]
    if back.any():  # lines that run down the page stand from right to left
        order = np.lexsort((-np.arange(len(box)), np.cumsum(np.append(True, ~back))))
        lines, box, direction = lines.taken(order), box[order], direction[order]
    length = np.diff(lines.first)
    which = np.repeat(np.arange(len(length)), length)
    left, right, top, bottom = _extents(lines.box, direction[which])
    blank = np.flatnonzero((lines.code == 32) & (lines.box[:, 0] == lines.box[:, 2]))  # of no extent: put in by PDFium
    left[blank] = right[blank - 1]
    _, _, line_top, line_bottom = _extents(box, direction)
    tall = np.maximum.reduceat(bottom - top, lines.first[:-1])
    aslant = line_bottom - line_top > _ASLANT * np.maximum(tall, 0.1)
    run, run_box = lines.first, box
    onwards, inside = np.diff(left, append=0), which == np.append(which[1:], -1)
    wide = inside & (onwards > _WIDE * tall[which])
    mixed = np.logical_or.reduceat(inside & (onwards < -_BACK * tall[which]), lines.first[:-1])
    if aslant.any() or wide.any() or mixed.any():
        fresh = (aslant | mixed)[which] | wide | np.append(False, wide[:-1])
        fresh[lines.first[:-1]] = True
        run = np.append(np.flatnonzero(fresh), len(fresh))
        run_box, alone = _around(lines.box, run), aslant[which[run[:-1]]]
        centre = (run_box[alone][:, [0, 1, 0, 1]] + run_box[alone][:, [2, 3, 2, 3]]) / 2
        run_box[alone] = centre + (run_box[alone] - centre) / 4
        gap = np.flatnonzero(wide[run[:-1]] & ~alone & (lines.code[run[:-1]] == 32))  # from one neighbour to the other
        way, run_box[gap] = direction[which[run[gap]]], run_box[gap - 1]
        run_box[gap, way], run_box[gap, (way + 2) % 4] = run_box[gap - 1, (way + 2) % 4], run_box[gap + 1, way]
    turned, of = direction[which[run[:-1]]], np.repeat(np.arange(len(run) - 1), np.diff(run))
    low, high, _, _ = _extents(run_box, turned)
    # Places never go back within a line; letters that begin at one place share the room up to the next.
    far = of * 1e6
    begin = np.maximum.accumulate(np.maximum(left - low[of], 0) + far)
    head = np.flatnonzero(np.append(True, np.diff(begin) > 0))
    if len(head) < len(begin):
        count = np.diff(np.append(head, len(begin)))
        room = np.minimum(np.append(begin[head[1:]], np.inf), (high - low)[of[head]] + far[head]) - begin[head]
        inside = np.arange(len(begin)) - np.repeat(head, count)
        begin += inside / np.repeat(count, count) * np.repeat(np.maximum(room, 0), count)
    place = np.clip(begin - far, 0, (high - low)[of])
    advance = np.append(place[1:], 0) - place
    advance[run[1:] - 1] = (high - low) - place[run[1:] - 1]
    scale = _STEP / np.maximum(np.maximum.reduceat(advance, run[:-1]), 1e-6)
    edges = np.round(place * scale[of])
    steps = np.append(edges[1:], 0) - edges
    steps[run[1:] - 1] = np.round((high - low) * scale) - edges[run[1:] - 1]
    return _Measured(lines.code, steps.astype(np.uint8), length, lines.page, box, direction, run[:-1], run_box, turned)


def _begins(page: NDArray[np.int64], direction: NDArray[np.int8], box: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Say of every line whether a block begins with it."""
    left, right, top, bottom = _extents(box, direction)
    height = np.maximum(bottom - top, 0.1)
    larger = np.maximum(height[1:], height[:-1])
    distance = np.diff(top) / larger
    distance = np.where(direction[1:] == 2, np.abs(distance), distance)  # upwards, where a page is upside down
    follows = (np.diff(page) == 0) & (np.diff(direction) == 0) & (distance > 0.3)
    follows &= larger <= _HEIGHT * np.minimum(height[1:], height[:-1])
    follows &= (left[1:] < right[:-1]) & (left[:-1] < right[1:])
    near = distance[follows & (distance < 2)]
    usual = float(np.clip(np.median(near), 0.8, 1.6)) if len(near) else 1.0
    follows &= distance <= _LEADING * usual
    return np.append(True, ~follows)[: len(page)]


def _repeated(lines: _Measured, first: NDArray[np.int64], heights: NDArray[np.float32]) -> dict[int, str]:
    """Return the lines that are headers or footers."""
    height, page = heights[lines.page], lines.page
    upper, lower = lines.box[:, 3] <= _EDGE * height, lines.box[:, 1] >= (1 - _EDGE) * height
    found: dict[tuple[str, str], list[int]] = {}
    for line in np.flatnonzero(upper | lower).tolist():
        text = _decoded(lines.code[first[line] : first[line + 1]])
        kind = "header" if upper[line] else "footer"
        found.setdefault((kind, re.sub(r"\d+", "0", text)), []).append(line)
    least = max(_LEAST, -(-len(heights) // _SHARE))
    often = {key: rows for key, rows in found.items() if len(set(page[rows].tolist())) >= least}
    return {line: kind for (kind, _), rows in often.items() for line in rows}


def _decoded(code: NDArray[np.uint32]) -> str:
    return np.where(code == _MARK, ord("-"), code).astype("<u4").tobytes().decode("utf-32-le")


def _measured_pages(pages: Iterable[PageCharacters], rules: PdfRules) -> tuple[list[_Shape], _Measured]:
    """Return the shapes of pages, and their lines, measured in groups whose arrays stay in the processor's cache."""
    shapes, parts, group = list[_Shape](), list[_Measured](), list[PageCharacters]()
    held = characters = 0
    for page in chain(pages, (None,)):
        if page is not None:
            group.append(page)
            held += len(page.code)
        if group and (page is None or held >= _TOGETHER):
            part = _measured(_lines(group, len(shapes), rules))
            parts.append(part._replace(run=part.run + characters))
            shapes += [(one.width, one.height, one.rotation) for one in group]
            characters, held, group = characters + len(part.code), 0, []
    return shapes, _Measured(*map(np.concatenate, zip(*parts, strict=True)))


def read_pdf(data: bytes, file: str, rules: PdfRules | None = None) -> Tree:
    """Read a PDF: elements as of an XML document, and where its characters stand."""
    rules = rules or PdfRules()
    shapes, whole = _measured_pages(read_characters(data, file), rules)
    width, height, rotation = np.array(shapes, np.float32).T
    first, page = np.append(0, np.cumsum(whole.length)), whole.page
    repeated = _repeated(whole, first, height)
    running = np.isin(np.arange(len(page)), list(repeated))
    gone = running & (rules.repeated == "drop")
    if gone.any():
        repeated, running = {}, running & False
    begins = _begins(page, whole.direction, whole.box)
    begins |= running | np.append(False, running[:-1])[: len(page)]
    begins |= np.append(False, gone[:-1])[: len(page)]
    keep, joined = np.ones(len(whole.code), np.bool_), np.zeros(len(page), np.bool_)
    if rules.hyphens == "join" and len(page):
        ends = np.isin(whole.code[first[1:-1] - 1], _HYPHENS) & (whole.length[:-1] > 1)
        joined[1:] = ends & ~begins[1:]
        for line in np.flatnonzero(joined).tolist():
            joined[line] = chr(whole.code[first[line]]).islower()
        hyphens = first[1:-1][joined[1:]] - 1
        keep[hyphens] = False
        whole.steps[hyphens - 1] += whole.steps[hyphens]
    if gone.any():
        keep &= np.repeat(~gone, whole.length)
    length = np.diff(np.append(0, np.cumsum(keep))[first])
    gap = np.where(gone | joined, 0, np.where(begins, 2, 1))
    gap[: np.argmax(~gone) + 1 if len(gap) else 0] = 0
    start = np.cumsum(length + gap) - length
    place = np.arange(int(length.sum())) + np.repeat(start - np.cumsum(length) + length, length)
    size = int(start[-1] + length[-1]) if len(start) else 0
    code, steps = np.full(size, 10, np.uint32), np.zeros(size, np.uint8)
    code[place], steps[place] = whole.code[keep], whole.steps[keep]
    counted = np.append(0, np.cumsum(keep))  # characters kept before each
    run = counted[np.append(whole.run, len(keep))]
    filled = np.diff(run) > 0
    begin, upto = place[run[:-1][filled]], place[run[1:][filled] - 1] + 1
    lines = dict(zip(LINE, (begin, upto, whole.run_direction[filled], *whole.run_box[filled].T), strict=True))
    spans, at = np.zeros((2, len(shapes)), np.int32), 0
    left = np.flatnonzero(~gone)
    cuts = np.searchsorted(page[left], np.arange(len(shapes) + 1))
    for number, (low, high) in enumerate(pairwise(cuts.tolist())):
        begin, at = (start[left[low]], start[left[high - 1]] + length[left[high - 1]]) if low < high else (at, at)
        spans[:, number] = begin, at
    columns = dict(zip(PAGE, (*spans, width, height, rotation), strict=True))
    heads = np.union1d(np.flatnonzero(begins & ~gone), left[:1])
    tails = left[np.append(np.searchsorted(left, heads[1:]), len(left)) - 1] if len(left) else left
    blocks = [
        (int(page[head]), repeated.get(head, "block"), int(start[head]), int(start[tail] + length[tail]))
        for head, tail in zip(heads.tolist(), tails.tolist(), strict=True)
    ]
    stored = {name: lines[name].astype(kind) for name, kind in LINE.items()}
    laid = Pages(columns, stored, steps, None if rules.original == "drop" else data)
    return _tree(file, _decoded(code), blocks, laid)


def _tree(file: str, text: str, blocks: list[tuple[int, str, int, int]], laid: Pages) -> Tree:
    """Return the elements of a document: the file, its pages, their blocks."""
    tree, of = Tree(file, pieces=[text], laid=laid), defaultdict[int, list[list[Any]]](list)
    for page, *block in blocks:
        of[page].append(block)
    tree.opened("pdf", [])
    for number, start in enumerate(laid.page["start"].tolist()):
        tree.position = tree.node_from = start
        tree.opened("page", [])
        for tag, begin, end in of[number]:
            tree.position = tree.node_from = begin
            tree.opened(tag, [])
            tree.position = end
            tree.closed(tag)
        tree.closed("page")
    tree.position = tree.node_from = len(text)
    tree.closed("pdf")
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
