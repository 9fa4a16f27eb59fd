"""Tables: one value for every table that is printed, and the only code that lays out or escapes one.

A `Table` holds typed values. For readers (terminal, Markdown, LaTeX, HTML) its columns say how numbers are printed; for
programs (CSV, JSON) numbers keep all their digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.data.tables.table import ABSENT, Column, Row, Table, Value, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ABSENT", "LAYOUTS", "UNLIMITED", "Column", "Row", "Table", "Value", "numbers", "render", "words"]

LAYOUTS = ("table", "markdown", "latex", "csv")

UNLIMITED = 1_000_000
"""The width of a table in a file: nothing is wrapped."""


def render(tables: Iterable[Table], layout: str, *, signature: str = "", width: int | None = None) -> str:
    """Return tables one after the other in one of the `LAYOUTS`, the signature of their scores last.

    The width is that of a terminal table; where it is not given, the terminal's own, or 80 columns.
    """
    from focuseval.data.tables import layouts  # noqa: PLC0415  a command's help needs the names above only

    if layout == "table":
        from focuseval.data.tables.terminal import terminal  # noqa: PLC0415  as above

        parts = [terminal(table, width) for table in tables]
    else:
        draw = {"markdown": layouts.markdown, "latex": layouts.latex, "csv": layouts.csv}[layout]
        parts = [draw(table) for table in tables]
    last = {"markdown": f"`{signature}`\n", "latex": f"% {signature}\n", "csv": f"# {signature}\n"}
    return "\n".join([*parts, last.get(layout, f"{signature}\n")] if signature else parts)
