"""What a command prints: how wide its tables may be, and where its text goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from focuseval.data.tables import Table


def tables_text(tables: Iterable[Table], options: dict[str, Any], signature: str = "") -> str:
    """Return tables in the layout asked for: as wide as the terminal is, or as they need to be in a file."""
    from focuseval.data.tables import UNLIMITED, render  # noqa: PLC0415  help must not wait for it

    width = UNLIMITED if options["output"] else None
    return render(tables, options["layout"], signature=signature, width=width)


def json_text(value: object) -> str:
    """Return plain values as JSON, one of them on a line."""
    import json  # noqa: PLC0415  tables need none

    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def write_text(text: str, output: str | None) -> None:
    """Print text, or write it to a file that appears whole or not at all."""
    if output is None:
        click.echo(text, nl=False)
        return
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(output, [text.encode()])


def say_written(path: str | Path, what: str) -> None:
    """Say on the standard error what was written: path, size, and what it is."""
    from focuseval.engine.storage import location  # noqa: PLC0415  only files need it

    place = location(path)
    if str(path) != "-" and place.exists():
        files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
        click.echo(f"{path}: {in_bytes(sum(file.stat().st_size for file in files))}, {what}", err=True)


def in_bytes(number: int) -> str:
    """Return a size as people read it.

    >>> in_bytes(17), in_bytes(1_234), in_bytes(45_600_000)
    ('17 bytes', '1.2 kB', '45.6 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"
