"""Columns of text that fit a terminal, drawn without any library.

Columns that are wider than the terminal are made to fit, in this order: headings and long words are wrapped; a table of
few rows is turned on its side, a row for every column; others are printed in parts, each with the names of the rows.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from unicodedata import combining, east_asian_width

GAP = "  "
NARROW = 16
"""Words may be wrapped down to so many columns; narrower than that they are hard to read."""


def fitted(columns: list[list[str]], left: list[bool], keys: int, limit: int) -> list[str]:
    """Draw columns, each with its heading first: as they are, on their side, or in parts.

    `left` says which columns hold words; the first `keys` columns name the rows.
    """
    least = _least(columns, left)
    if _total(least) <= limit:
        return _drawn(columns, left, limit)
    turned = [list(row) for row in zip(*columns, strict=True)]
    sides = [True] + [False] * (len(turned) - 1)
    if len(turned) <= len(columns) and _total(_least(turned, sides)) <= limit:
        return _drawn(turned, sides, limit)
    parts: list[list[int]] = []
    for place in range(keys, len(least)):
        if not parts or _total([least[p] for p in (*parts[-1], place)]) > limit:
            parts.append(list(range(keys)))
        parts[-1].append(place)
    lines: list[str] = []
    for part in parts or [list(range(keys))]:
        lines += ["", *_drawn([columns[place] for place in part], [left[place] for place in part], limit)]
    return lines[1:]


def _least(columns: list[list[str]], left: list[bool]) -> list[int]:
    """Return how narrow each column may be: headings are wrapped at blanks, words anywhere, numbers never."""
    sizes = []
    for (heading, *body), words in zip(columns, left, strict=True):
        widest = max(map(size, body))
        sizes.append(max(*map(size, heading.split(" ")), min(widest, NARROW) if words else widest, 1))
    return sizes


def _total(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _drawn(columns: list[list[str]], left: list[bool], limit: int) -> list[str]:
    """Draw columns that fit the limit; the widest are narrowed first, beyond their least width only if they must."""
    least = _least(columns, left)
    widths = [max(1, *map(size, column)) for column in columns]
    for floor in (least, [1] * len(least)):
        while _total(widths) > limit and (wide := [p for p, width in enumerate(widths) if width > floor[p]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
    lines = []
    for number, row in enumerate(zip(*columns, strict=True)):
        cells = [fold(cell, width) for cell, width in zip(row, widths, strict=True)]
        if number == 0:
            if not any(row):
                continue
            height = max(map(len, cells))
            cells = [[""] * (height - len(cell)) + cell for cell in cells]
        for pieces in zip_longest(*cells, fillvalue=""):
            padded = []
            for piece, width, words in zip(pieces, widths, left, strict=True):
                blanks = " " * (width - size(piece))
                padded.append(piece + blanks if words else blanks + piece)
            lines.append(GAP.join(padded))
        if number == 0:
            lines.append(GAP.join("─" * width for width in widths))
    return lines


def fold(text: str, width: int) -> list[str]:
    """Wrap a text at blanks, and inside words that are longer than a line.

    >>> fold("one two incomprehensible", 8)
    ['one two', 'incompre', 'hensible']
    """
    if size(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if size(joined) > width and line:
            lines.append(line)
            joined = word
        while size(joined) > width:
            fitting = next(n for n in range(min(len(joined), width), 0, -1) if n == 1 or size(joined[:n]) <= width)
            lines.append(joined[:fitting])
            joined = joined[fitting:]
        line = joined
    return [*lines, line]


def size(text: str) -> int:
    """Return how many columns a text takes: wide East Asian characters take two, combining ones none.

    >>> size("run"), size("検索")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def terminal_width() -> int:
    """Return the columns of the terminal, by ``COLUMNS`` or by what it says itself; 80 in a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except (OSError, ValueError):
        return 80
