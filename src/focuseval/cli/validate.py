"""``focuseval validate``: what in a run breaks its task's rules."""

from __future__ import annotations

import json
from typing import Any

import click

from focuseval.cli.options import (
    collection_options,
    layout_option,
    open_collection,
    run_format_option,
    task_option,
)
from focuseval.cli.outputs import Command

_SHOWN = 20


@click.command(cls=Command)
@click.argument("run")
@task_option("The task whose rules hold", required=True)
@collection_options
@run_format_option
@click.option(
    "--limit", type=click.IntRange(0), help=f"Lines to print; {_SHOWN} findings, or every change, if not given."
)
@layout_option("text", "json", what="How findings are printed.")
@click.option(
    "--repair", "repaired", type=click.Path(dir_okay=False), help="Write a lawful run here; list the changes."
)
@click.pass_context
def validate(ctx: click.Context, /, run: str, **options: Any) -> None:
    r"""Check a run against a task: unknown places, ranks, scores, duplicates, overlap, limits, grouping.

    Exit code 0 if the run is lawful or was repaired, 1 if not.

    \b
    Examples:
      focuseval validate run.xml --task focused --index wiki.idx
      focuseval validate run.xml --task relevant-in-context --repair lawful.xml
      focuseval validate run.txt --task thorough --format json | jq .counts
    """
    from focuseval.task.report import as_json, as_lines  # noqa: PLC0415  help must not wait for it
    from focuseval.task.tasks import find_task  # noqa: PLC0415  as above

    task = find_task(options["task"])
    findings, limit = _findings(run, task, options)
    if options["layout"] == "json":
        click.echo(json.dumps(as_json(findings, task, limit), ensure_ascii=False, indent=1))
    else:
        for line in as_lines(findings, task, limit):
            click.echo(line)
    ctx.exit(1 if findings.errors else 0)


def _findings(run: str, task: Any, options: dict[str, Any]) -> tuple[Any, int | None]:
    """Check a run, or repair it and write it in its own format; return what was found and how much of it to show."""
    from focuseval.formats import detect_source, find_format, open_source, write_run  # noqa: PLC0415  as above
    from focuseval.task import check, repair  # noqa: PLC0415  as above

    if options["repaired"] and run == "-" and not options["run_format"]:
        raise click.UsageError("to repair standard input, say its format with --run-format")
    index, source = open_collection(options), open_source(run)
    chosen = find_format(options["run_format"], "run") if options["run_format"] else detect_source(source, "run")
    known = _placed(chosen.reader(index, faults="keep")(source), index)
    if not options["repaired"]:
        return check(known, task, index), _SHOWN if options["limit"] is None else options["limit"]
    lawful, changes = repair(known, task, index)
    write_run(lawful, options["repaired"], chosen.name)
    return changes, options["limit"]


def _placed(run: Any, index: Any) -> Any:
    """Look for the texts of chunks in their documents; spans that are wrong are left to the check."""
    if run.text is None or index is None:
        return run
    from focuseval.place import place_run  # noqa: PLC0415  only texts are aligned

    placed = place_run(run, index, bad="keep")
    for remark in placed.remarks[len(run.remarks) : len(run.remarks) + 1]:
        click.echo(f"{run.file}: {remark}", err=True)
    return placed
