"""``focuseval profiles``: which measures and policies each campaign used."""

from __future__ import annotations

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, json_text
from focuseval.data.tables import Table, render, words
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
    profile = profile_named(name) if name else None
    if profile and layout == "table":
        text = explain_profile(profile)
    elif layout == "json":
        text = json_text(profile_as_json(profile) if profile else [*map(profile_as_json, PROFILES)])
    else:
        text = render([Table("", words("profile", "summary"), tuple((one.name, one.summary) for one in PROFILES))])
    click.echo(text, nl=False)
