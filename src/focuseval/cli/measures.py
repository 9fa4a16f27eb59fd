"""``focuseval measures``: what there is, with definitions."""

from __future__ import annotations

import click

from focuseval.cli.outputs import Command


@click.command(cls=Command)
@click.argument("name", required=False)
def measures(name: str | None) -> None:
    r"""List all measures, or explain one: definition, formula, parameters, bounds, citation, an example.

    \b
    Examples:
      focuseval measures
      focuseval measures MAgP
      focuseval measures 'nxCG(ideal=full)@10'
    """
    from focuseval.measures import MEASURES  # noqa: PLC0415  help must not wait for it
    from focuseval.measures.explain import explain, overview  # noqa: PLC0415  as above
    from focuseval.tables import render  # noqa: PLC0415  as above

    click.echo(explain(name) if name else render([overview(MEASURES)], "table"), nl=False)
