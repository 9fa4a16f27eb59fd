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
        plain = ("name", "kind", "summary", "aliases", "suffixes")
        values = [{key: getattr(one, key) for key in plain} | {"says": sorted(one.says)} for one in known]
        text = json_text(values[0] if name else values)
    elif name:
        text = f"{known[0].documentation.strip()}\n"
    else:
        runs, golds = (tuple((f.name, f.summary) for f in known if f.kind == kind) for kind in ("run", "gold"))
        columns = words("format", "summary")
        text = render([Table("Runs", columns, runs), Table("Gold", columns, golds)])
    click.echo(text, nl=False)
