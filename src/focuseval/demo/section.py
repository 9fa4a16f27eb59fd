"""A section of the demonstration: a heading, a sentence, a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


@dataclass(frozen=True)
class Section:
    """What one step of the loop has to show; every cell is text already."""

    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str = ""
    """How to get the same from the shell."""
    note: str = ""
    """What stands below the table: a score's signature."""

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers only, and is set flush right.

        >>> Section("", "", ("run", "score"), (("a", "0.5"), ("b", "–"))).numeric(1)
        True
        """
        return all(_is_number(row[column]) for row in self.rows)


def section(
    title: str,
    text: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    command: str = "",
    *,
    note: str = "",
) -> Section:
    """Return a section whose cells are turned into text, thousands with a comma.

    >>> section("t", "", ["n", "x"], [[12345, 0.5]]).rows
    (('12,345', '0.5'),)
    """
    cells = tuple(tuple(_cell(value) for value in row) for row in rows)
    return Section(title, text, tuple(columns), cells, command, note)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").lstrip("-−").isdigit() or text in {"", "–"}


def as_table(part: Section) -> Table:
    """Return the section's table for a terminal."""
    from rich import box  # noqa: PLC0415  the library itself never needs a terminal
    from rich.table import Table  # noqa: PLC0415  as above
    from rich.text import Text  # noqa: PLC0415  as above

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(part.columns))
    table.caption, table.caption_justify = Text(part.note, overflow="fold") if part.note else None, "left"
    for i, name in enumerate(part.columns):
        table.add_column(Text(name), justify="right" if part.numeric(i) else "left", overflow="fold")
    for row in part.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
