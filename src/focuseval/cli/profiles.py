"""``focuseval profiles``: which measures and policies each campaign used."""

from __future__ import annotations

from functools import partial

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, write_results
from focuseval.data.tables import Table, words
from focuseval.measures.explain import explain_profile, profile_as_json
from focuseval.measures.profiles import PROFILES, profile_named


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
    values = [profile_as_json(profile) for profile in known]
    table = Table("", words("profile", "summary"), tuple((profile.name, profile.summary) for profile in known))
    text = partial(explain_profile, known[0]) if name and layout == "table" else None
    write_results({"layout": layout}, lambda: values[0] if name else values, lambda: [table], text=text)
