"""``focuseval formats``: what can be read and written."""

from __future__ import annotations

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, json_text
from focuseval.data.tables import Table, render, words
from focuseval.formats.catalogue import FORMATS, find_format


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
    known = [find_format(name)] if name else FORMATS
    if layout == "json":
        values = [
            {"name": one.name, "kind": one.kind, "summary": one.summary}
            | {"aliases": list(one.aliases), "suffixes": list(one.suffixes), "says": sorted(one.says)}
            for one in known
        ]
        click.echo(json_text(values[0] if name else values), nl=False)
    elif name:
        click.echo(known[0].documentation.strip())
    else:
        tables = []
        for kind, title in (("run", "Runs"), ("gold", "Gold")):
            rows = tuple((one.name, one.summary) for one in known if one.kind == kind)
            tables.append(Table(title, words("format", "summary"), rows))
        click.echo(render(tables, "table"), nl=False)
