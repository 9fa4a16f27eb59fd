"""``focuseval topics``: topics as they were understood, and what is wrong with a set under construction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

import click

from focuseval.cli.options import FiniteRange, collection_options, layout_option, open_collection
from focuseval.cli.output import NO, Command, echo_lines, say_written, write_results
from focuseval.data.fields import json_line
from focuseval.data.tables import Row, Table, numbers, words
from focuseval.data.topics import Topic
from focuseval.engine.workers import cores
from focuseval.errors import NexiError, UsageError, counted
from focuseval.formats.content import write_whole
from focuseval.formats.embedded import open_traces, read_questions
from focuseval.formats.traces import draw
from focuseval.formats.traces import read_topics as read_traces


@click.command(cls=Command, opens=NO)
@click.argument("file")
@layout_option("table", "json", what="How topics are printed; JSON has all fields and NEXI's syntax tree.")
@click.option("--check", is_flag=True, help="Say what is wrong with each topic.")
@collection_options
@click.option("--few", type=click.IntRange(0), default=5, help="--check: fewest documents that a topic should find.")
@click.option("--many", type=FiniteRange(0, 1), default=0.5, help="--check: largest share of the documents.")
@click.option("--sample", type=click.IntRange(1), help="Draw this many; near-duplicates are folded into one.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed of --sample.")
@click.option("--since", type=click.DateTime(), help="Traces: what was retrieved then or later, in UTC.")
@click.option(
    "--where", multiple=True, metavar="NAME=VALUE", help="Traces: an attribute of a span or of one around it."
)
@click.option("-o", "--output", metavar="FILE", help="Write the topics as JSON lines.")
@click.pass_context
def topics(ctx: click.Context, /, file: str, layout: str, **options: Any) -> None:
    r"""Show the topics of a file or a folder: kind, title, target, terms; or draw some, and write them.

    A structured title that does not parse is shown with its error, and ends the command with exit code 1. So does what
    --check finds in a set under construction: a title that is there already, missing fields; with --index or --docs
    terms that the collection does not have, too, and topics that find too few documents with their words, or too many.

    Of traces (OpenTelemetry, OpenInference, MLflow, Langfuse: 'focuseval formats traces') the topics are what was
    asked; the id of the trace is the topic's. --sample draws from questions of which no two share four fifths of
    their words. Questions are copied as they were asked, with whatever personal data is in them.

    \b
    Examples:
      focuseval topics topics.xml
      focuseval topics topics-2003/ --json | jq '.[0].query'
      focuseval topics candidates.xml --check --docs articles/
      focuseval topics traces.jsonl --sample 50 --seed 1 -o topics.jsonl
      focuseval topics traces/ --since 2026-11-01 --where service.name=shop -o topics.jsonl
    """
    asked = _asked(file, options)
    if options["output"]:
        lines = []
        for one in asked:
            facts: dict[str, Any] = dict(one.attributes)
            facts |= {"asked": int(facts["asked"]), "traces": facts["traces"].split()} if "traces" in facts else {}
            lines.append({"topic": one.id, "query": one.nexi or one.title, **facts})
        write_whole(options["output"], map(json_line, lines))
        say_written(options["output"], counted(len(asked), "topic"))
        return
    parsed: list[tuple[Topic, str]] = []
    for topic in asked:
        try:
            topic.query  # noqa: B018  parsing is what may fail
            parsed.append((topic, ""))
        except NexiError as error:
            parsed.append((topic, str(error)))
    errors = [wrong for _, wrong in parsed if wrong]
    title, rows, values = f"{file}: {counted(len(parsed), 'topic')}", list[Row](), list[dict[str, Any]]()
    if options["check"]:
        from focuseval.retrieval.retrieving import check_topics  # noqa: PLC0415  only a check asks the collection

        good = [topic for topic, wrong in parsed if not wrong]
        limits = {"few": options["few"], "many": options["many"], "jobs": cores()}
        checked = [*zip(good, check_topics(good, open_collection(options), **limits), strict=True)]
        values = [{"id": t.id, "documents": found, "wrong": wrong} for t, (found, wrong) in checked]
        columns = (*words("id", "title"), *numbers("documents", form="d"), *words("wrong"))
        rows = [(t.id, t.title or t.castitle, found, "; ".join(wrong)) for t, (found, wrong) in checked]
        if amiss := sum(bool(wrong) for _, (_, wrong) in checked):
            errors.append(f"{file}: something is wrong with {amiss} of {counted(len(checked), 'topic')}")
    else:
        values = [{"id": t.id, "kind": t.kind, "error": bad} if bad else t.as_json() for t, bad in parsed]
        columns = words("id", "kind", "title", "target", "terms")
        for topic, wrong in parsed:
            understood = ("(does not parse)", wrong) if wrong else (topic.target, " ".join(map(str, topic.terms)))
            rows.append((topic.id, topic.kind, topic.title, *understood))
    write_results({"layout": layout}, lambda: values, lambda: [Table(title, columns, tuple(rows))])
    echo_lines(errors)
    ctx.exit(1 if errors else 0)


def _asked(file: str, options: dict[str, Any]) -> Sequence[Topic]:
    """Return the topics that are asked for: all of a file, or some of them."""
    conditions = [tuple(one.split("=", 1)) for one in options["where"]]
    if bad := next((one for one in conditions if len(one) != 2), None):
        raise click.UsageError(f"--where: expected NAME=VALUE, found {bad[0]!r}")
    traced, since = open_traces(file), options["since"]
    if (since or conditions) and not traced:
        raise UsageError(f"{file}: --since and --where are for traces, found other topics; leave them out")
    asked: Sequence[Topic] = ()
    if traced:
        asked, remarks = read_traces(traced, since and since.replace(tzinfo=UTC), conditions)
        echo_lines(f"{file}: {remark}" for remark in remarks)
    asked = asked or read_questions(file)
    if options["sample"]:
        asked, folded = draw(asked, options["sample"], options["seed"])
        echo_lines([f"{file}: {counted(folded, 'near-duplicate')} folded"] if folded else [])
    return asked
