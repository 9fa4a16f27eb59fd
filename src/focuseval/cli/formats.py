"""``focuseval formats``: what can be read and written."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def formats(name: str | None) -> None:
    r"""List the formats, or explain one with a sample.

    \b
    Examples:
      focuseval formats
      focuseval formats inex-text
    """
    from focuseval.formats import FORMATS, find_format  # noqa: PLC0415  help must not wait for it

    if name:
        click.echo(find_format(name).documentation.strip())
        return
    width = max(len(known.name) for known in FORMATS)
    for kind in ("run", "gold"):
        click.echo(f"{kind}:")
        for known in FORMATS:
            if known.kind == kind:
                click.echo(f"  {known.name:{width}}  {known.summary}")
