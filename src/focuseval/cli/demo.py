"""``focuseval demo``: the whole loop on the embedded example."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import wrap

import click

from focuseval.cli.output import NO, Command
from focuseval.data.tables import render
from focuseval.example.demo import NEXT, OWN, Section, run_demo


@click.command(cls=Command, opens=NO)
@click.argument("folder", metavar="[DIR]", default="focuseval-demo", type=click.Path(file_okay=False, path_type=Path))
def demo(folder: Path) -> None:
    r"""Walk through the whole loop on the embedded example.

    Copies documents, topics, gold and runs into DIR (focuseval-demo if not given), compares chunkings of a handbook,
    indexes articles, checks and scores runs, and writes DIR/report.html on the chunks and DIR/inex.html on the runs.
    Files of the example are replaced, other files in DIR are left alone.

    \b
    Examples:
      focuseval demo
      focuseval demo /tmp/sea
    """
    report = run_demo(folder, _show)
    click.echo(f"Report: {report}\nRuns of INEX: {report.with_name('inex.html')}\n\nTry next, after 'cd {folder}':")
    click.echo("\n".join(map(_continued, NEXT)))
    click.echo("\nThe same with your own FOLDER, and lines of id, tab, query in topics.tsv:")
    click.echo("\n".join(map(_continued, OWN)))


def _show(part: Section) -> None:
    computed = (part.signature.replace("|", ", "),) if part.signature else ()
    table = replace(part.table, title=part.text, notes=(*part.table.notes, *computed))
    click.secho(part.title, bold=True)
    click.echo(render([table], "table"))


def _continued(command: str) -> str:
    """Return a command on as many lines as 80 columns need; each but the last says that it goes on."""
    lines = wrap(command, 74, initial_indent="  ", subsequent_indent="     ", break_on_hyphens=False)
    return " \\\n".join(lines)
