"""``focuseval measures``: what there is, with definitions."""

from __future__ import annotations

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, json_text, write_results
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
    if not name:
        write_results({"layout": layout}, explain.as_json, explain.overview)
    elif layout == "json":
        click.echo(json_text(explain.declared(*explain.found_measure(name))), nl=False)
    else:
        click.echo(explain.explain(name), nl=False)
