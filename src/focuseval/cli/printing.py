"""Where a command's text goes, and how wide its tables may be."""

from __future__ import annotations

from typing import Any

import click


def width_for(options: dict[str, Any]) -> int | None:
    """Return how wide a table may be: as the terminal is (None), or as it needs to be in a file."""
    from focuseval.tables import UNLIMITED  # noqa: PLC0415  help must not wait for it

    return UNLIMITED if options["output"] else None


def write_text(text: str, output: str | None) -> None:
    """Print text, or write it to a file that appears whole or not at all."""
    if output is None:
        click.echo(text, nl=False)
        return
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(output, [text.encode()])
