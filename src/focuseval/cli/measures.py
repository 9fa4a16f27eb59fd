"""``focuseval measures`` and ``focuseval profiles``: what there is, with definitions."""

from __future__ import annotations

from functools import partial

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, write_results
from focuseval.data.tables import Table, words
from focuseval.measures import explain
from focuseval.measures.profiles import PROFILES, profile_named


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


@click.command(cls=Command, opens=NO)
@click.argument("name", required=False)
@layout_option("table", "json", what="How they are printed.")
def profiles(name: str | None, layout: str) -> None:
    r"""List all campaign profiles, or show one: tasks, measures and policies.

    \b
    Examples:
      focuseval profiles
      focuseval profiles inex2006
    """
    known = [profile_named(name)] if name else PROFILES
    values = [explain.profile_as_json(profile) for profile in known]
    table = Table("", words("profile", "summary"), tuple((profile.name, profile.summary) for profile in known))
    text = partial(explain.explain_profile, known[0]) if name and layout == "table" else None
    write_results({"layout": layout}, lambda: values[0] if name else values, lambda: [table], text=text)
