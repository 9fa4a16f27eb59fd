"""``focuseval formats``: what can be read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from focuseval.cli.options import layout_option
from focuseval.cli.outputs import NO, Command

if TYPE_CHECKING:
    from focuseval.formats import Format


@click.command(cls=Command, opens=NO)
@click.argument("name", required=False)
@layout_option("table", "json", what="How they are printed.")
def formats(name: str | None, layout: str) -> None:
    r"""List the formats, or explain one with a sample.

    \b
    Examples:
      focuseval formats
      focuseval formats inex-text
    """
    from focuseval.data.tables import Table, render, words  # noqa: PLC0415  as above
    from focuseval.formats import FORMATS, find_format  # noqa: PLC0415  help must not wait for it

    if layout == "json":
        from focuseval.cli.printing import json_text  # noqa: PLC0415  only asked for by name

        told = [_told(known) for known in ([find_format(name)] if name else FORMATS)]
        click.echo(json_text(told[0] if name else told), nl=False)
        return
    if name:
        click.echo(find_format(name).documentation.strip())
        return
    tables = []
    for kind, title in (("run", "Runs"), ("gold", "Gold")):
        rows = tuple((known.name, known.summary) for known in FORMATS if known.kind == kind)
        tables.append(Table(title, words("format", "summary"), rows))
    click.echo(render(tables, "table"), nl=False)


def _told(known: Format) -> dict[str, object]:
    """Return a format as plain values."""
    named = {"name": known.name, "kind": known.kind, "summary": known.summary}
    return named | {"aliases": list(known.aliases), "suffixes": list(known.suffixes), "says": sorted(known.says)}
