"""``focuseval validate``: what in a run breaks its task's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.commands import as_options
from focuseval.cli.output import NO, Command, echo_lines, json_text, progress_bar
from focuseval.formats.catalogue import detect_source, find_format
from focuseval.formats.content import open_source
from focuseval.formats.convert import write_run
from focuseval.measures.checks import check, repair
from focuseval.measures.profiles import profile_named
from focuseval.measures.tasks import Findings, Task, as_json, as_lines, find_task, with_repeated_keys
from focuseval.placing.place import place_run

REPAIR = "Write a valid run, and list the changes ('score --repair' writes none)."
SHOWN = 20  # findings that are printed where no limit is given


@click.command(cls=Command, opens=NO, phases=("checking",))
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@shared.task_option("The task whose rules apply; with --profile, by default its first")
@shared.profile_option("The campaign whose tasks and limits apply")
@shared.collection_options
@shared.run_options
@click.option("--limit", type=click.IntRange(0), help=f"Lines to print; by default {SHOWN} findings, or every change.")
@shared.layout_option("text", "json", what="How findings are printed.")
@click.option("--repair", "repaired", metavar="FILE", help=REPAIR)
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
    if options["repaired"] and len(runs) > 1:
        raise click.UsageError("--repair writes one run: name one")
    if not (options["task"] or options["profile"]):
        raise click.UsageError("--task or --profile says which rules hold; give one of them")
    task = find_task(options["task"]) if options["task"] else None
    if task is None or options["profile"]:  # a profile must have the task, and may limit its lists otherwise
        profile = profile_named(options["profile"])
        task = find_task(profile.task(task.name if task else None))
        cutoff = profile.policies_of(task.name).get("cutoff")
        task = replace(task, limit=cutoff, cut=cutoff is not None)
    index, objects, valid = shared.open_collection(options), [], True
    for run in runs:
        with progress_bar():
            findings = _findings(run, task, index, options)
        limit = SHOWN if options["limit"] is None and not options["repaired"] else options["limit"]
        valid &= findings.lawful and not (options["strict"] and findings.of_level("warning"))
        if options["layout"] == "json":
            objects.append(as_json(findings, task, limit))
        else:
            click.echo(as_options("\n".join(as_lines(findings, task, limit))))
    if objects:
        click.echo(json_text(objects[0] if len(runs) == 1 else objects), nl=False)
    ctx.exit(0 if valid else 1)


def _findings(file: str, task: Task, index: Any, options: dict[str, Any]) -> Findings:
    """Check a run, or repair it and write it in its own format; return what was found."""
    if options["repaired"] and file == "-" and not options["run_format"]:
        raise click.UsageError("to repair standard input, say its format with --run-format")
    source = open_source(file)
    known = find_format(options["run_format"], "run") if options["run_format"] else detect_source(source, "run")
    run = known.reader(index, "keep", options["order"])(source)
    if run.text is not None and index is not None:  # look for the texts of chunks; wrong spans are left to the check
        placed = place_run(run, index, bad="keep")
        echo_lines(f"{run.file}: {remark}" for remark in placed.remarks[len(run.remarks) : len(run.remarks) + 1])
        run = placed
    if options["repaired"]:
        repaired, findings = repair(run, task, index)
        write_run(repaired, options["repaired"], known.name)
    else:
        findings = check(run, task, index)
    # lines of JSON may repeat a key, which only the file itself shows
    return with_repeated_keys(findings, bytes(source.data)) if known.name == "run-jsonl" else findings
