"""``focuseval profiles``: which measures and policies each campaign used."""

from __future__ import annotations

import click

from focuseval.cli.options import layout_option
from focuseval.cli.outputs import NO, Command


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
    from focuseval.cli.printing import json_text  # noqa: PLC0415  help must not wait for it
    from focuseval.data.tables import Table, render, words  # noqa: PLC0415  as above
    from focuseval.measures.explain import explain_profile, profile_as_json  # noqa: PLC0415  as above
    from focuseval.measures.profiles import PROFILES, profile_named  # noqa: PLC0415  as above

    if layout == "json":
        found = profile_as_json(profile_named(name)) if name else [profile_as_json(profile) for profile in PROFILES]
        click.echo(json_text(found), nl=False)
        return
    if name:
        click.echo(explain_profile(profile_named(name)), nl=False)
        return
    table = Table("", words("profile", "summary"), tuple((profile.name, profile.summary) for profile in PROFILES))
    click.echo(render([table], "table"), nl=False)
