"""``focuseval demo``: the whole loop on the embedded example."""

from __future__ import annotations

import sys
from pathlib import Path

import click


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
    from rich.console import Console  # noqa: PLC0415  help must not wait for it

    from focuseval.demo import NEXT, run_demo  # noqa: PLC0415  the same
    from focuseval.demo.section import as_table  # noqa: PLC0415  the same

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    report = run_demo(folder, lambda part: console.print(f"[bold]{part.title}.[/] {part.text}", as_table(part)))
    click.echo(f"Report: {report}\n\nTry next, after 'cd {folder}':")
    click.echo("\n".join(f"  {line}" for line in NEXT))
