"""Tables: one value for every table that is printed, and the only code that lays out or escapes one.

A `Table` holds typed values. For readers (terminal, Markdown, LaTeX, HTML) its columns say how numbers are printed; for
programs (CSV, JSON) numbers keep all their digits. Names from files are shown as they are, and never read as commands.

A table that is wider than the terminal is made to fit, in this order: headings and long words are wrapped; a table of
few rows is turned on its side, a row for every column; others are printed in parts, each with the names of the rows.
"""

from __future__ import annotations

import csv as csv_module
import io
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from itertools import zip_longest
from math import isfinite
from types import SimpleNamespace
from typing import Any
from unicodedata import combining, east_asian_width

import pyarrow as pa

from focuseval.errors import MissingDataError

Value = str | int | float | None
Row = tuple[Value, ...]

LAYOUTS = ("table", "markdown", "latex", "csv")
UNLIMITED = 1_000_000  # the width of a table in a file: nothing is wrapped
ABSENT = "–"  # what readers see where there is no value
MARK = "*"  # what stands behind the best value of a column on a terminal
GAP = "  "
_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_HIDDEN = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *map(ord, _CONTROLS))
_SPELT = {code: f"⟨U+{code:04X}⟩" for code in _HIDDEN}
_MARKDOWN = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])|<|&(?=#?\w+;)")
_LATEX_TEXT = "\\textbackslash ^textasciicircum ~textasciitilde …ldots"
_LATEX_MATHS = "⋆star ·cdot ×times ✗times ✓checkmark →rightarrow ≥geq ≤leq βbeta ρrho τtau ⟨langle ⟩rangle"
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {sign: f"${sign}$" for sign in "<>|"}
    | {word[0]: f"\\{word[1:]}{{}}" for word in _LATEX_TEXT.split()}
    | {word[0]: f"$\\{word[1:]}$" for word in _LATEX_MATHS.split()}
    | {"–": "--", "—": "---", "−": "$-$"}
)
"""A sign and the command that prints it; ✓ needs the package amssymb."""


def visible(text: object) -> str:
    r"""Return a text in which characters that change the direction of others, or control a terminal, are spelt out.

    >>> visible("run\u202e1")
    'run⟨U+202E⟩1'
    """
    return str(text or "").translate(_SPELT)


def one_line(text: str) -> str:
    r"""Return a text without line breaks and tabs, which would end a row.

    >>> one_line("a\nb\tc")
    'a b c'
    """
    return re.sub("[\t\n\u2028\u2029]", " ", visible(text))


def markdown_text(text: str) -> str:
    r"""Return a text for a cell or a paragraph of Markdown; an underscore inside a word is none of its signs.

    >>> print(markdown_text("run_1 | <0.001 *"))
    run_1 \| &lt;0.001 \*
    """
    return _MARKDOWN.sub(lambda sign: escape(sign[0]) if sign[0] in "<&" else f"\\{sign[0]}", one_line(text))


def latex_text(text: str) -> str:
    r"""Return a text for LaTeX, its own signs and those that it does not know spelt as commands.

    >>> print(latex_text(r"run_1 ⋆ 50% a\b^c~d"))
    run\_1 $\star$ 50\% a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d
    """
    return one_line(text).translate(_LATEX)


@dataclass(frozen=True)
class Column:
    """A column of words, to the left, or of numbers, to the right."""

    heading: str
    words: bool = False
    form: str = ".4f"
    """How fractions are printed for readers, as `format` has it; whole numbers have commas between thousands."""
    best: bool = False  # whether the largest value is marked for readers

    def text(self, value: Value) -> str:
        """Return a value of this column as readers see it; text stays as it is, also among numbers.

        >>> [Column("AP").text(value) for value in (0.123456, 1234, None, "0.5000 ⋆")]
        ['0.1235', '1,234', '–', '0.5000 ⋆']
        """
        if value is None or value != value:  # noqa: PLR0124  NaN alone differs from itself
            return ABSENT
        if isinstance(value, str):
            return visible(value)
        return f"{value:,}" if isinstance(value, int) else format(value, self.form)


def words(*headings: str) -> tuple[Column, ...]:
    """Return columns of words."""
    return tuple(Column(heading, words=True) for heading in headings)


def numbers(*headings: str, form: str = ".4f") -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(heading, form=form) for heading in headings)


@dataclass(frozen=True)
class Table:
    """A title, columns, rows, and sentences that belong below.

    A cell with a mark (a star, an interval, how many topics a mean leaves out) is text in a column of numbers.
    """

    title: str = ""
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings as readers see them."""
        return tuple(visible(column.heading) for column in self.columns)

    @property
    def keys(self) -> int:
        """How many columns name a row: the words before the first number, or one."""
        first = next((place for place, column in enumerate(self.columns) if not column.words), 1)
        return max(1, first)

    def printed(self) -> Table:
        """Return the table with every value as the text that readers see."""
        return replace(self, rows=tuple(map(tuple, self.cells())))

    def cells(self, escaped: Callable[[str], str] = str, best: str = "{}", other: str = "{}") -> list[list[str]]:
        """Return the rows as readers see them, escaped; the best values, and the others of their columns, in a form."""
        marks = self.marks()
        marked = {place for _, place in marks}
        rows = []
        for number, row in enumerate(self.rows):
            texts = [escaped(c.text(value)) for c, value in zip(self.columns, row, strict=True)]
            for place in marked:
                texts[place] = (best if (number, place) in marks else other).format(texts[place])
            rows.append(texts)
        return rows

    def marks(self) -> frozenset[tuple[int, int]]:
        """Return the row and the column of every best value; where all rows have the same value, none is best.

        >>> sorted(Table("", (Column("AP", best=True),), ((0.5,), (0.75,), (0.75,))).marks())
        [(1, 0), (2, 0)]
        """
        marked = set()
        for place, column in enumerate(self.columns if len(self.rows) > 1 else ()):
            values = [row[place] for row in self.rows] if column.best else []
            known = {value for value in values if isinstance(value, float) and isfinite(value)}
            if len(known) > 1:
                marked |= {(row, place) for row, value in enumerate(values) if value == max(known)}
        return frozenset(marked)

    def to_json(self) -> dict[str, object]:
        """Return the table as plain values; what is not a number, or not finite, is null.

        >>> Table("Means", words("run") + numbers("AP"), (("a", float("nan")),)).to_json()
        {'title': 'Means', 'head': ['run', 'AP'], 'body': [['a', None]], 'notes': []}
        """
        body = [[None if isinstance(v, float) and not isfinite(v) else v for v in row] for row in self.rows]
        head = [column.heading for column in self.columns]
        return {"title": self.title, "head": head, "body": body, "notes": list(self.notes)}


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>focuseval</title>
<style>:root { color-scheme: light dark; font-family: sans-serif } td, th { padding: .2em .8em; text-align: left }
.number { text-align: right; font-variant-numeric: tabular-nums }</style>"""


def render(tables: Iterable[Table], layout: str = "table", *, signature: str = "", width: int | None = None) -> str:
    """Return tables one after the other in one of the `LAYOUTS`, the signature of their scores last.

    The width is that of a terminal table; where it is not given, the terminal's own, or 80 columns. As ``html``, they
    are a page.
    """
    if layout == "html":
        shown = "\n".join(map(notebook, tables))
        return f"{_PAGE}\n{shown}\n<p><small>{escape(visible(signature))}</small></p>\n"
    draw = {"markdown": markdown, "latex": latex, "csv": csv}.get(layout, lambda table: terminal(table, width))
    last = {"markdown": f"`{signature}`\n", "latex": f"% {signature}\n", "csv": f"# {signature}\n"}
    return "\n".join([*map(draw, tables), *([last.get(layout, f"{signature}\n")] if signature else [])])


def terminal(table: Table, width: int | None = None) -> str:
    """Return a table of text, words to the left and numbers to the right, with no line longer than the width.

    >>> print(terminal(Table("Means", words("run") + numbers("AP"), (("a", 0.5), ("b", 1.0)), ("Two runs.",))), end="")
    Means
    run      AP
    ───  ──────
    a    0.5000
    b    1.0000
    Two runs.
    """
    limit = width or shutil.get_terminal_size().columns  # by ``COLUMNS`` or the terminal itself; 80 in a pipe
    lines = fold(one_line(table.title), limit) if table.title else []
    if table.rows:  # a blank that is never broken stands behind values that are not the best of their column
        rows = [map(one_line, table.headings), *table.cells(one_line, f"{{}}{MARK}", "{}\u00a0")]
        columns = [list(column) for column in zip(*rows, strict=True)]
        lines += fitted(columns, [column.words for column in table.columns], table.keys, limit)
    lines += [line for note in table.notes for line in fold(one_line(note), limit)]
    lines += [f"{MARK} the best of the runs"] if table.marks() else []
    return "".join(f"{line.replace(chr(0xA0), ' ').rstrip()}\n" for line in lines)


def fitted(columns: list[list[str]], left: list[bool], keys: int, limit: int) -> list[str]:
    """Draw columns (those on the `left` hold words, the first `keys` name rows) as they are, turned, or in parts."""
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
        narrow = min(widest, 16) if words else widest  # words are hard to read in fewer columns
        sizes.append(max(*map(size, heading.split(" ")), narrow, 1))
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


def markdown(table: Table) -> str:
    """Return a Markdown table under its title, notes as paragraphs below."""
    rule = ["---" if column.words else "--:" for column in table.columns]
    rows = [map(markdown_text, table.headings), rule, *table.cells(markdown_text, "**{}**")]
    title = [f"### {markdown_text(table.title)}"] if table.title else []
    grid = ["\n".join("| " + " | ".join(row) + " |" for row in rows)] if table.rows else []
    return "\n\n".join([*title, *grid, *map(markdown_text, table.notes)]) + "\n"


def latex(table: Table, footnote: str = "") -> str:
    """Return a LaTeX tabular (packages booktabs and amssymb); a title becomes a caption, notes become comments."""
    notes = "".join(f"% {one_line(note)}\n" for note in table.notes)
    if not table.rows:
        return (f"% {one_line(table.title)}\n" if table.title else "") + notes
    rows = map(" & ".join, [map(latex_text, table.headings), *table.cells(latex_text, "\\textbf{{{}}}")])
    # A bracket or a star at the beginning of a row would be read as an argument of \\\\ before it.
    head, *body = (("{}" if row[:1] in {"[", "*"} else "") + row + " \\\\\n" for row in rows)
    sides = "".join("l" if column.words else "r" for column in table.columns)
    grid = f"\\toprule\n{head}\\midrule\n{''.join(body)}\\bottomrule\n"
    tabular = f"\\begin{{tabular}}{{{sides}}}\n{grid}\\end{{tabular}}\n"
    if not table.title:
        return tabular + notes
    if footnote:  # blanks, where lines may break
        small = latex_text(footnote.replace("|", " | "))
        tabular += f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\raggedright\\footnotesize {small}}}\n"
    return f"\\begin{{table}}\n\\caption{{{latex_text(table.title)}}}\n{tabular}\\end{{table}}\n{notes}"


def csv(table: Table) -> str:
    """Return comma-separated values with all digits; title and notes are comment lines before them."""
    above = "".join(f"# {one_line(line)}\n" for line in (table.title, *table.notes) if line)
    return above + csv_lines([[column.heading for column in table.columns], *table.rows])


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows as comma-separated values; a field with any end of line is quoted, ``\r`` too.

    >>> csv_lines([["a\rb", 1]])
    '"a\rb",1\n'
    """
    lines = list[str]()
    csv_module.writer(SimpleNamespace(write=lines.append)).writerows(rows)  # quotes what its own line ends hold
    return "".join(f"{line[:-2]}\n" for line in lines)


def html(table: Table) -> str:
    """Return the element ``table``, without title and notes: empty if there are no rows."""
    if not table.rows:
        return ""
    side = ["" if column.words else ' class="number"' for column in table.columns]
    heads = zip(side, table.headings, strict=True)
    head = "".join(f'<th scope="col"{s}>{escape(name)}</th>' if name else f"<td{s}></td>" for s, name in heads)
    lines = []
    for cells in table.cells(lambda cell: f"<bdi>{escape(cell)}</bdi>", "<b>{}</b>"):
        first = [f'<th scope="row">{cell}</th>' for cell in cells[: table.keys]]
        rest = (f"<td{s}>{cell}</td>" for s, cell in zip(side[table.keys :], cells[table.keys :], strict=True))
        lines.append(f"<tr>{''.join([*first, *rest])}</tr>\n")
    shown = f"<thead><tr>{head}</tr></thead>\n" if any(table.headings) else ""
    return f"<table>\n{shown}<tbody>\n{''.join(lines)}</tbody>\n</table>"


def notebook(table: Table, signature: str = "") -> str:
    """Return a table as a notebook shows it: title above, notes and signature below."""
    title = f"<p>{escape(visible(table.title))}</p>" if table.title else ""
    below = (*table.notes, signature) if signature else table.notes
    return title + html(table) + "".join(f"<div><small>{escape(visible(line))}</small></div>" for line in below)


class Described:
    """A value that shows itself as one line: in a shell, and as HTML in a notebook."""

    def description(self) -> str:
        """Return what it is, where it comes from and how much it holds."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.description()}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(visible(self.description()))}</p>"


class Framed:
    """A value that is a table for other programs, too: Arrow's, and through it those of pandas and polars."""

    def to_arrow(self) -> pa.Table:
        """Return the table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a data frame of pandas."""
        _optional("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return `to_arrow` as a data frame of polars."""
        return _optional("polars").from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the table to any library that knows Arrow's PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _optional(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDataError(f"a data frame needs {name}, which is not installed; run 'pip install {name}'") from None


def table_file(table: pa.Table, name: str) -> bytes:
    """Return a table as a file of its name: Parquet, or CSV with the mark by which Excel knows UTF-8."""
    if not name.lower().endswith(".parquet"):
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return csv_lines([table.column_names, *rows]).encode("utf-8-sig", "replace")
    parquet, out = import_module("pyarrow.parquet"), io.BytesIO()  # 20 ms, and few files are Parquet
    parquet.write_table(table, out)
    return out.getvalue()


def trec(lines: Iterable[tuple[str, str, object]]) -> str:
    """Return trec_eval's layout: name, topic or ``all``, value; blanks in names are dropped."""
    return "".join(f"{name.replace(' ', ''):<22}\t{topic}\t{value}\n" for name, topic, value in lines)
