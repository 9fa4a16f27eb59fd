"""``focuseval validate``: what in a run breaks its task's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from focuseval.cli.options import (
    collection_options,
    layout_option,
    open_collection,
    profile_option,
    run_format_option,
    task_option,
)
from focuseval.cli.outputs import NO, Command

_SHOWN = 20


@click.command(cls=Command, opens=NO)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@task_option("The task whose rules apply; with --profile, by default its first")
@profile_option("The campaign whose tasks and limits apply")
@collection_options
@run_format_option
@click.option(
    "--limit", type=click.IntRange(0), help=f"Lines to print; {_SHOWN} findings, or every change, if not given."
)
@layout_option("text", "json", what="How findings are printed.")
@click.option(
    "--repair",
    "repaired",
    metavar="FILE",
    help="Write a valid run here, and list the changes; 'score --repair' does the same in memory.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@click.pass_context
def validate(ctx: click.Context, /, runs: tuple[str, ...], **options: Any) -> None:
    r"""Check RUNs against a task: unknown places, ranks, scores, duplicates, overlap, limits, grouping.

    A run with errors is not valid, and 'score --task' refuses it. For what is a warning the measures have a rule.
    Exit code 0 if every run is valid or was repaired, 1 if not. With several runs, JSON is a list of one object each.

    \b
    Examples:
      focuseval validate run.xml --task focused --index wiki.idx
      focuseval validate run*.xml --profile inex2006 --task focused
      focuseval validate run.xml --task relevant-in-context --repair valid.xml
      focuseval validate run.txt --task thorough --format json | jq .counts
    """
    from focuseval.cli.printing import json_text  # noqa: PLC0415  help must not wait for it
    from focuseval.measures.tasks.findings import as_json, as_lines  # noqa: PLC0415  as above

    if options["repaired"] and len(runs) > 1:
        raise click.UsageError("--repair writes one run: name one")
    task, index, objects, valid = _task(options), open_collection(options), [], True
    for run in runs:
        findings, limit = _findings(run, task, index, options)
        valid &= findings.lawful and not (options["strict"] and findings.of_level("warning"))
        if options["layout"] == "json":
            objects.append(as_json(findings, task, limit))
        else:
            click.echo("\n".join(as_lines(findings, task, limit)))
    if objects:
        click.echo(json_text(objects[0] if len(runs) == 1 else objects), nl=False)
    ctx.exit(0 if valid else 1)


def _task(options: dict[str, Any]) -> Any:
    """Return the task whose rules hold: a profile must have it, and may limit its lists otherwise."""
    from focuseval.measures.tasks.tasks import find_task  # noqa: PLC0415  help must not wait for it

    if not (options["task"] or options["profile"]):
        raise click.UsageError("--task or --profile says which rules hold; give one of them")
    task = find_task(options["task"]) if options["task"] else None
    if not options["profile"]:
        return task
    from focuseval.measures.profiles import profile_named  # noqa: PLC0415  only asked for by name

    profile = profile_named(options["profile"])
    name = profile.task(task.name if task else None)
    cutoff = profile.policies_of(name).get("cutoff")
    return replace(find_task(name), limit=cutoff, cut=cutoff is not None)


def _findings(run: str, task: Any, index: Any, options: dict[str, Any]) -> tuple[Any, int | None]:
    """Check a run, or repair it and write it in its own format; return what was found and how much of it to show."""
    from focuseval.formats import detect_source, find_format, open_source, write_run  # noqa: PLC0415  as above
    from focuseval.measures.tasks.checks import check, repair  # noqa: PLC0415  as above

    if options["repaired"] and run == "-" and not options["run_format"]:
        raise click.UsageError("to repair standard input, say its format with --run-format")
    source = open_source(run)
    chosen = find_format(options["run_format"], "run") if options["run_format"] else detect_source(source, "run")
    known = _placed(chosen.reader(index, faults="keep")(source), index)
    if not options["repaired"]:
        shown = _SHOWN if options["limit"] is None else options["limit"]
        return _keys(check(known, task, index), chosen, source), shown
    valid, changes = repair(known, task, index)
    write_run(valid, options["repaired"], chosen.name)
    return _keys(changes, chosen, source), options["limit"]


def _keys(findings: Any, chosen: Any, source: Any) -> Any:
    """Add the lines of JSON that repeat a key, which only the file itself tells."""
    if chosen.name != "run-jsonl":
        return findings
    from focuseval.measures.tasks.findings import with_repeated_keys  # noqa: PLC0415  only JSON lines need it

    return with_repeated_keys(findings, bytes(source.data))


def _placed(run: Any, index: Any) -> Any:
    """Look for the texts of chunks in their documents; spans that are wrong are left to the check."""
    if run.text is None or index is None:
        return run
    from focuseval.placing import place_run  # noqa: PLC0415  only texts are aligned

    placed = place_run(run, index, bad="keep")
    for remark in placed.remarks[len(run.remarks) : len(run.remarks) + 1]:
        click.echo(f"{run.file}: {remark}", err=True)
    return placed
