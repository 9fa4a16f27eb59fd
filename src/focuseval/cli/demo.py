"""``focuseval demo``: the whole loop on the embedded example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from focuseval.demo.steps import Section


@click.command()
@click.argument("folder", metavar="[DIR]", default="focuseval-demo", type=click.Path(file_okay=False, path_type=Path))
def demo(folder: Path) -> None:
    r"""Walk through the whole loop on the embedded example.

    Copies articles, topics, gold and runs into DIR (focuseval-demo if not given), indexes them, checks and scores
    the runs, and writes DIR/report.html. Files of the example are replaced, other files in DIR are left alone.

    \b
    Examples:
      focuseval demo
      focuseval demo /tmp/sea
    """
    from focuseval.demo import NEXT, OWN, run_demo  # noqa: PLC0415  help must not wait for it

    report = run_demo(folder, _show)
    click.echo(f"Report: {report}\n\nTry next, after 'cd {folder}':")
    click.echo("\n".join(f"  {line}" for line in NEXT))
    click.echo("\nThe same with a folder of your own:")
    click.echo("\n".join(f"  {line}" for line in OWN))


def _show(part: Section) -> None:
    from dataclasses import replace  # noqa: PLC0415  help must not wait for it

    from focuseval.tables import render  # noqa: PLC0415  as above

    click.secho(part.title, bold=True)
    click.echo(render([replace(part.table, title=part.text)], "table", signature=part.signature))
