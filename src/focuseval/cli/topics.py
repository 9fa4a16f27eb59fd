"""``focuseval topics``: topics as they were understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from focuseval.cli.options import layout_option
from focuseval.cli.output import NO, Command, echo_lines, json_text
from focuseval.data.tables import Table, render, words
from focuseval.errors import NexiError, counted
from focuseval.formats.embedded import read_questions

if TYPE_CHECKING:
    from focuseval.data.topics import Topic


@click.command(cls=Command, opens=NO)
@click.argument("file")
@layout_option("table", "json", what="How topics are printed; JSON has all fields and NEXI's syntax tree.")
@click.pass_context
def topics(ctx: click.Context, file: str, layout: str) -> None:
    r"""Show the topics of a file or a folder: kind, title, target, terms.

    A structured title that does not parse is shown with its error, and ends the command with exit code 1.

    \b
    Examples:
      focuseval topics topics.xml
      focuseval topics topics-2003/ --json | jq '.[0].query'
    """
    parsed: list[tuple[Topic, str]] = []
    for topic in read_questions(file):
        try:
            topic.query  # noqa: B018  parsing is what may fail
            parsed.append((topic, ""))
        except NexiError as error:
            parsed.append((topic, str(error)))
    if layout == "json":
        text = json_text([{"id": t.id, "kind": t.kind, "error": bad} if bad else t.as_json() for t, bad in parsed])
    else:
        rows = []
        for topic, wrong in parsed:
            understood = ("(does not parse)", wrong) if wrong else (topic.target, " ".join(map(str, topic.terms)))
            rows.append((topic.id, topic.kind, topic.title, *understood))
        columns = words("id", "kind", "title", "target", "terms")
        text = render([Table(f"{file}: {counted(len(rows), 'topic')}", columns, tuple(rows))])
    click.echo(text, nl=False)
    errors = [wrong for _, wrong in parsed if wrong]
    echo_lines(errors)
    ctx.exit(1 if errors else 0)
