"""``focuseval measures``: what there is, with definitions."""

from __future__ import annotations

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, json_text
from focuseval.data.tables import render
from focuseval.measures import explain


@click.command(cls=Command, opens=NO)
@click.argument("name", required=False)
@layout_option("table", "json", what="How they are printed.")
def measures(name: str | None, layout: str) -> None:
    r"""List all measures by family, or explain one: definition, formula, parameters, bounds, citation, an example.

    \b
    Examples:
      focuseval measures
      focuseval measures MAgP
      focuseval measures 'nxCG(ideal=full)@10'
    """
    if layout == "json":
        text = json_text(explain.declared(*explain.found_measure(name)) if name else explain.as_json())
    else:
        text = explain.explain(name) if name else render(explain.overview(), "table")
    click.echo(text, nl=False)
