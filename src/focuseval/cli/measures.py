"""``focuseval measures``: what there is, with definitions."""

from __future__ import annotations

from functools import partial

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, write_results
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
    values = partial(explain.declared, *explain.found_measure(name)) if name else explain.as_json
    text = partial(explain.explain, name) if name and layout == "table" else None
    write_results({"layout": layout}, values, explain.overview, text=text)
