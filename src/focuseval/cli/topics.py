"""``focuseval topics``: topics as they were understood, and what is wrong with a set under construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import FiniteRange, collection_options, layout_option, open_collection
from focuseval.cli.output import NO, Command, echo_lines, json_text
from focuseval.data.tables import Table, numbers, render, words
from focuseval.engine.workers import cores
from focuseval.errors import NexiError, counted
from focuseval.formats.embedded import read_questions

if TYPE_CHECKING:
    from focuseval.data.topics import Topic


@click.command(cls=Command, opens=NO)
@click.argument("file")
@layout_option("table", "json", what="How topics are printed; JSON has all fields and NEXI's syntax tree.")
@click.option("--check", is_flag=True, help="Say what is wrong with each topic.")
@collection_options
@click.option("--few", type=click.IntRange(0), default=5, help="--check: fewest documents that a topic should find.")
@click.option("--many", type=FiniteRange(0, 1), default=0.5, help="--check: largest share of the documents.")
@click.pass_context
def topics(ctx: click.Context, /, file: str, layout: str, **options: Any) -> None:
    r"""Show the topics of a file or a folder: kind, title, target, terms.

    A structured title that does not parse is shown with its error, and ends the command with exit code 1. So does what
    --check finds in a set under construction: a title that is there already, missing fields; with --index or --docs
    terms that the collection does not have, too, and topics that find too few documents with their words, or too many.

    \b
    Examples:
      focuseval topics topics.xml
      focuseval topics topics-2003/ --json | jq '.[0].query'
      focuseval topics candidates.xml --check --docs articles/
    """
    parsed: list[tuple[Topic, str]] = []
    for topic in read_questions(file):
        try:
            topic.query  # noqa: B018  parsing is what may fail
            parsed.append((topic, ""))
        except NexiError as error:
            parsed.append((topic, str(error)))
    errors = [wrong for _, wrong in parsed if wrong]
    title = f"{file}: {counted(len(parsed), 'topic')}"
    if options["check"]:
        from focuseval.retrieval.retrieving import check_topics  # noqa: PLC0415  only a check asks the collection

        good = [topic for topic, wrong in parsed if not wrong]
        limits = {"few": options["few"], "many": options["many"], "jobs": cores()}
        checked = [*zip(good, check_topics(good, open_collection(options), **limits), strict=True)]
        if layout == "json":
            text = json_text([{"id": t.id, "documents": found, "wrong": wrong} for t, (found, wrong) in checked])
        else:
            columns = (*words("id", "title"), *numbers("documents", form="d"), *words("wrong"))
            shown = tuple((t.id, t.title or t.castitle, found, "; ".join(wrong)) for t, (found, wrong) in checked)
            text = render([Table(title, columns, shown)])
        if amiss := sum(bool(wrong) for _, (_, wrong) in checked):
            errors.append(f"{file}: something is wrong with {amiss} of {counted(len(checked), 'topic')}")
    elif layout == "json":
        text = json_text([{"id": t.id, "kind": t.kind, "error": bad} if bad else t.as_json() for t, bad in parsed])
    else:
        rows = []
        for topic, wrong in parsed:
            understood = ("(does not parse)", wrong) if wrong else (topic.target, " ".join(map(str, topic.terms)))
            rows.append((topic.id, topic.kind, topic.title, *understood))
        text = render([Table(title, words("id", "kind", "title", "target", "terms"), tuple(rows))])
    click.echo(text, nl=False)
    echo_lines(errors)
    ctx.exit(1 if errors else 0)
