"""Tables of text for a terminal, drawn without any library: start-up is what a small run waits for.

A table that is wider than the terminal is made to fit, in this order: headings and long words are wrapped; a table of
few rows is turned on its side, a row for every column; others are printed in parts, each with the names of the rows.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from focuseval.data.tables.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.data.tables.table import Table

GAP = "  "
NARROW = 16
"""Words may be wrapped down to so many columns; narrower than that they are hard to read."""


def terminal(table: Table, width: int | None = None) -> str:
    """Return a table of text, words to the left and numbers to the right, with no line longer than the width.

    >>> from focuseval.data.tables import Table, numbers, words
    >>> print(terminal(Table("Means", words("run") + numbers("AP"), (("a", 0.5), ("b", 1.0)), ("Two runs.",))), end="")
    Means
    run      AP
    ───  ──────
    a    0.5000
    b    1.0000
    Two runs.
    """
    limit = width or _terminal_width()
    lines = fold(one_line(table.title), limit) if table.title else []
    if table.rows:
        rows = [map(one_line, row) for row in (table.headings, *table.cells())]
        lines += _fitted(_marked([list(column) for column in zip(*rows, strict=True)], table), table, limit)
    lines += [line for note in table.notes for line in fold(one_line(note), limit)]
    lines += [f"{MARK} the best of the runs"] if table.marks() else []
    return "".join(f"{line.replace(chr(0xA0), ' ').rstrip()}\n" for line in lines)


MARK = "*"
"""What stands behind the best value of a column."""


def _marked(columns: list[list[str]], table: Table) -> list[list[str]]:
    """Put a mark behind the best values, and a blank that is never broken behind the others of their columns."""
    marks = table.marks()
    for place in {column for _, column in marks}:
        head, *body = columns[place]
        signs = [MARK if (row, place) in marks else "\u00a0" for row in range(len(body))]
        columns[place] = [head, *(cell + sign for cell, sign in zip(body, signs, strict=True))]
    return columns


def _fitted(columns: list[list[str]], table: Table, limit: int) -> list[str]:
    """Draw columns, each with its heading first: as they are, on their side, or in parts."""
    left = [column.words for column in table.columns]
    least = _least(columns, left)
    if _total(least) <= limit:
        return _drawn(columns, left, limit)
    turned = [list(row) for row in zip(*columns, strict=True)]
    sides = [True] + [False] * (len(turned) - 1)
    if len(turned) <= len(columns) and _total(_least(turned, sides)) <= limit:
        return _drawn(turned, sides, limit)
    lines: list[str] = []
    for part in _parts(least, table.keys, limit):
        lines += ["", *_drawn([columns[place] for place in part], [left[place] for place in part], limit)]
    return lines[1:]


def _parts(least: list[int], keys: int, limit: int) -> list[list[int]]:
    """Divide columns into parts that fit, each with the columns that name the rows.

    >>> _parts([5, 6, 6, 6], 1, 22)
    [[0, 1, 2], [0, 3]]
    """
    named = list(range(keys))
    parts: list[list[int]] = []
    for place in range(keys, len(least)):
        if not parts or _total([least[p] for p in (*parts[-1], place)]) > limit:
            parts.append(named.copy())
        parts[-1].append(place)
    return parts or [named]


def _least(columns: list[list[str]], left: list[bool]) -> list[int]:
    """Return how narrow each column may be: headings are wrapped at blanks, words anywhere, numbers never."""
    sizes = []
    for (heading, *body), words in zip(columns, left, strict=True):
        widest = max(map(size, body))
        sizes.append(max(*map(size, heading.split(" ")), min(widest, NARROW) if words else widest, 1))
    return sizes


def _widths(columns: list[list[str]], least: list[int], limit: int) -> list[int]:
    """Return the widths of columns that fit: the widest are narrowed first, beyond their least only if they must."""
    widths = [max(1, *map(size, column)) for column in columns]
    for floor in (least, [1] * len(least)):
        while _total(widths) > limit and (wide := [p for p, width in enumerate(widths) if width > floor[p]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _total(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _drawn(columns: list[list[str]], left: list[bool], limit: int) -> list[str]:
    """Draw columns that fit the limit."""
    widths = _widths(columns, _least(columns, left), limit)
    head, *body = (
        [fold(cell, width) for cell, width in zip(row, widths, strict=True)] for row in zip(*columns, strict=True)
    )
    height = max(map(len, head))
    head = [[""] * (height - len(cell)) + cell for cell in head]
    rule = [GAP.join("─" * width for width in widths)]
    above = [*_lines(head, widths, left), *rule] if any(column[0] for column in columns) else []
    return above + [line for row in body for line in _lines(row, widths, left)]


def _lines(row: list[list[str]], widths: list[int], left: list[bool]) -> Iterator[str]:
    """Yield the lines of a row whose cells may have several."""
    for cells in zip_longest(*row, fillvalue=""):
        padded = []
        for cell, width, words in zip(cells, widths, left, strict=True):
            blanks = " " * (width - size(cell))
            padded.append(cell + blanks if words else blanks + cell)
        yield GAP.join(padded)


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


def _terminal_width() -> int:
    """Return the columns of the terminal, by ``COLUMNS`` or by what it says itself; 80 in a pipe."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(1).columns or 80
    except (OSError, ValueError):
        return 80
