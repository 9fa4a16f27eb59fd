"""``focuseval demo``: the whole loop on the embedded example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from focuseval.cli.outputs import NO, Command

if TYPE_CHECKING:
    from focuseval.example.demo import Section


@click.command(cls=Command, opens=NO)
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
    from focuseval.example.demo import NEXT, OWN, run_demo  # noqa: PLC0415  help must not wait for it

    report = run_demo(folder, _show)
    click.echo(f"Report: {report}\n\nTry next, after 'cd {folder}':")
    click.echo("\n".join(line for command in NEXT for line in _continued(command)))
    click.echo("\nThe same with your own FOLDER, and lines of id, tab, query in topics.tsv:")
    click.echo("\n".join(line for command in OWN for line in _continued(command)))


def _show(part: Section) -> None:
    from dataclasses import replace  # noqa: PLC0415  help must not wait for it

    from focuseval.data.tables import render  # noqa: PLC0415  as above

    computed = (part.signature.replace("|", ", "),) if part.signature else ()
    table = replace(part.table, title=part.text, notes=(*part.table.notes, *computed))
    click.secho(part.title, bold=True)
    click.echo(render([table], "table"))


WIDE = 76
"""The longest line of a command, before its indent and the sign that it goes on."""


def _continued(command: str) -> list[str]:
    """Return a command on as many lines as 80 columns need; each but the last says that it goes on."""
    lines = [""]
    for word in command.split(" "):
        if len(lines[-1]) + len(word) > WIDE - 4:
            lines.append("   ")
        lines[-1] += f" {word}"
    return [f" {line} \\" for line in lines[:-1]] + [f" {lines[-1]}"]
