"""``focuseval history``: scores over commits."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from focuseval.cli.options import GRIDS
from focuseval.cli.output import NO, Command, write_results
from focuseval.report.history import history_table, read_history, render_history


@click.command(cls=Command, opens=NO)
@click.argument("folder", metavar="DIR")
@click.option("-o", "--output", metavar="FILE", help="Write to this file, such as history.html.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Only these measures.")
@click.option("--anchor", metavar="FILE", help="Scores per topic of a pinned release: its mean, and changes since.")
@click.option("--baseline", metavar="FILE", help="Scores per topic of the gate's baseline: its mean.")
@click.option("--zero", is_flag=True, help="Let the axes of the page begin at 0.")
@click.option("--title", default="Scores over time", help="The page's title.")
@click.option("--format", "layout", type=click.Choice(["html", *GRIDS]), help="html with -o, else a table.")
@click.option("--json", "layout", flag_value="json", help="The same as --format json.")
def history(folder: str, **options: Any) -> None:
    r"""Draw a line per run and measure through the score files in DIR.

    DIR holds what 'focuseval score --format json' wrote, one file per commit. Files are ordered by a date or time in
    their name, else by the numbers and words of the name; where gold, documents or policies change, the page says so.
    A name that holds a commit's hash shows the commit's subject, if DIR is in its repository.
    With --per-topic in these files, every point has the 95 % interval of the change since the anchor, or since the
    first value of its line.

    \b
    Examples:
      focuseval score gold.jsonl run.jsonl --per-topic --format json -o scores/$(date +%Y%m%dT%H%M%S).json
      focuseval history scores/ -o history.html --anchor v1.json --baseline base.json
      focuseval history scores/ -m MAgP --format markdown
    """
    scores = read_history(folder, options["anchor"], options["baseline"]).only(options["measures"])
    layout = options["layout"] or ("html" if options["output"] else "table")
    page = partial(render_history, scores, options["title"], zero=options["zero"]) if layout == "html" else None
    write_results(options | {"layout": layout}, scores.to_json, lambda: [history_table(scores)], text=page)
