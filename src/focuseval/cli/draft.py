"""``focuseval draft``: questions drafted by a language model, for people to review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from focuseval.assessment.models.judging import draft_questions
from focuseval.cli.judge import server_options, settings_of
from focuseval.cli.output import NO, Command, echo_lines, progress_bar
from focuseval.data.fields import json_line
from focuseval.errors import ModelError
from focuseval.formats.content import write_whole
from focuseval.formats.embedded import open_documents


@click.command(cls=Command, opens=NO, phases=("drafting questions",))
@click.argument("docs")
@server_options
@click.option("--questions", type=click.IntRange(1), default=50, help="How many questions are wanted.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed; equal seeds draw equal documents.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the drafts to this file, as our gold.")
def draft(docs: str, **options: Any) -> None:
    r"""Draft questions: documents are drawn at random, a model writes a question, its answer and verbatim quotes.

    Every quote is looked for in the document. Questions whose quotes are not all there are dropped and counted, and so
    are those that nearly repeat an earlier one. Requests and replies are kept in FILE.replies.db, so that the same
    command asks nothing twice. FILE is a gold whose topics say "origin": "draft"; 'focuseval project drafts' lays them
    before a person.

    \b
    Examples:
      focuseval draft docs/ --endpoint http://localhost:11434/v1 --model llama3.1:8b --questions 50 -o drafts.jsonl
      focuseval project drafts review drafts.jsonl --docs docs/ --assessor ann
    """
    settings, target = settings_of(options), options["output"]
    with progress_bar(unit="number") as progress:
        how = {"questions": options["questions"], "seed": options["seed"], "progress": progress}
        done = draft_questions(open_documents(docs), settings, Path(f"{target}.replies.db"), **how)
    echo_lines(f"warning: {line}" for line in done.failed)
    if not done.lines:
        raise ModelError(f"expected at least one question whose quotes are in the text, found none; {done}")
    write_whole(target, [json_line(line) for line in done.lines])
    click.echo(str(done), err=True)
