"""``focuseval topics``: topics as they were understood."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import layout_option
from focuseval.cli.outputs import NO, Command
from focuseval.errors import counted

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
    from focuseval.data.tables import Table, render, words  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.embedded import read_questions  # noqa: PLC0415  as above

    known = read_questions(file)
    errors = [error for topic in known if (error := _error(topic))]
    if layout == "json":
        click.echo(json.dumps([_object(topic) for topic in known], ensure_ascii=False, indent=1))
    else:
        columns = words("id", "kind", "title", "target", "terms")
        table = Table(f"{file}: {counted(len(known), 'topic')}", columns, tuple(map(_row, known)))
        click.echo(render([table], "table"), nl=False)
    for error in errors:
        click.echo(error, err=True)
    ctx.exit(1 if errors else 0)


def _error(topic: Topic) -> str | None:
    """Return why a topic's structured title does not parse, or None."""
    from focuseval.errors import NexiError  # noqa: PLC0415  help must not wait for it

    try:
        topic.query  # noqa: B018  parsing is what may fail
    except NexiError as error:
        return str(error)
    return None


def _object(topic: Topic) -> dict[str, Any]:
    error = _error(topic)
    return {"id": topic.id, "kind": topic.kind, "error": error} if error else topic.as_json()


def _row(topic: Topic) -> tuple[str, ...]:
    if error := _error(topic):
        return topic.id, topic.kind, topic.title, "(does not parse)", error
    return topic.id, topic.kind, topic.title, topic.target, " ".join(map(str, topic.terms))
