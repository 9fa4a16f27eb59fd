"""From the options of ``focuseval gate`` to verdicts, printed and written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click


def judge_files(gold: str, run: str, options: dict[str, Any]) -> bool:
    """Score the run, judge it, print and write the verdicts; return whether any measure regressed."""
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.cli.watching import watched  # noqa: PLC0415  as above
    from focuseval.evaluate.evaluation import evaluate  # noqa: PLC0415  as above
    from focuseval.gate import GateRule, judge, read_baseline  # noqa: PLC0415  as above
    from focuseval.gate.outputs import as_text  # noqa: PLC0415  as above

    rule = GateRule(alpha=options["alpha"], min_effect=options["min_effect"])
    baseline = read_baseline(options["baseline"], options["baseline_run"])
    judged, index = read_judged(gold, options)
    asked = {name: options[name] for name in ("task", "profile", "run_format")}
    with watched([run]) as progress:
        scores = evaluate(judged, [run], options["measures"], index=index, progress=progress, **asked)
    for remark in scores.remarks():
        click.echo(remark, err=True)
    write_repairs_of(scores, options)
    verdicts = judge(baseline, scores, options["measures"], rule)
    click.echo(as_text(verdicts), nl=False)
    _write(verdicts, options)
    return any(verdict.regression for verdict in verdicts)


def _write(verdicts: Any, options: dict[str, Any]) -> None:
    from focuseval.gate.outputs import as_junit, as_markdown  # noqa: PLC0415  only files need it

    write_for_ci(as_markdown(verdicts), as_junit(verdicts), options)


def write_no_verdict(reason: str, options: dict[str, Any]) -> None:
    """Tell CI that nothing could be compared; a file that cannot be written either is not worth a second line."""
    from focuseval.errors import FocusevalError  # noqa: PLC0415  help must not wait for it
    from focuseval.gate.outputs import no_verdict_junit, no_verdict_markdown  # noqa: PLC0415  as above

    with suppress(FocusevalError, OSError):
        write_for_ci(no_verdict_markdown(reason), no_verdict_junit(reason, options["measures"]), options)


def write_for_ci(markdown: str, junit: str, options: dict[str, Any]) -> None:
    """Write the files that the options name, and add to the summary of a job of GitHub Actions."""
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    if options["junit"]:
        write_whole(options["junit"], [junit.encode()])
    if options["markdown"]:
        write_whole(options["markdown"], [markdown.encode()])
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(markdown + "\n")
