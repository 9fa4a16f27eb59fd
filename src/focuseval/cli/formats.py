"""``focuseval formats``: what can be read and written."""

from __future__ import annotations

import click

from focuseval.cli.outputs import Command


@click.command(cls=Command)
@click.argument("name", required=False)
def formats(name: str | None) -> None:
    r"""List the formats, or explain one with a sample.

    \b
    Examples:
      focuseval formats
      focuseval formats inex-text
    """
    from focuseval.formats import FORMATS, find_format  # noqa: PLC0415  help must not wait for it
    from focuseval.tables import Table, render, words  # noqa: PLC0415  as above

    if name:
        click.echo(find_format(name).documentation.strip())
        return
    tables = []
    for kind, title in (("run", "Runs"), ("gold", "Gold")):
        rows = tuple((known.name, known.summary) for known in FORMATS if known.kind == kind)
        tables.append(Table(title, words("format", "summary"), rows))
    click.echo(render(tables, "table"), nl=False)
