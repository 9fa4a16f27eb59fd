"""Tables on standard output: as wide as the terminal, or as wide as they need to be in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PIPE = 10_000
"""Columns of a pipe: nothing is cut or wrapped."""


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[int] = ()) -> None:
    """Print a table; columns numbered in `right` are numbers."""
    from rich import box  # noqa: PLC0415  help must not wait for it
    from rich.console import Console  # noqa: PLC0415  as above
    from rich.table import Table  # noqa: PLC0415  as above
    from rich.text import Text  # noqa: PLC0415  as above

    table = Table(box=box.SIMPLE_HEAD)
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _PIPE)
    console.print(Text(title, style="bold"))
    console.print(table)


def shown(value: Any) -> str:
    """Return a value as a table shows it.

    >>> shown(1234567), shown(0.123456), shown(None)
    ('1,234,567', '0.12', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
