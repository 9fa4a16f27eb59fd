"""From the options of ``focuseval gate`` to verdicts, printed and written."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from focuseval.cli.outputs import Command
from focuseval.cli.significance_options import given


class Gate(Command):
    """A command that ends with 0 or 1 after a verdict, and whatever else happens with 2 and one line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; wrong ones are one line, too."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _end_without_verdict(error.format_message(), {})

    def invoke(self, ctx: click.Context) -> NoReturn:
        """Judge; no exception is a verdict."""
        try:
            worse = super().invoke(ctx)
            _flush_output()
        except (KeyboardInterrupt, click.Abort):
            _end_without_verdict("interrupted", ctx.params)
        except click.UsageError as error:  # where files would be written may be what is wrong
            _end_without_verdict(error.format_message(), {})
        except Exception as error:  # noqa: BLE001  to CI, a defect is neither a pass nor a regression
            _end_without_verdict(_reason(error), ctx.params)
        raise SystemExit(1 if worse else 0)


def _flush_output() -> None:
    """See that the verdict is printed: one that cannot be is none."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "is closed")
    sys.stdout.flush()


def _reason(error: Exception) -> str:
    from focuseval.errors import FocusevalError  # noqa: PLC0415  help must not wait for it

    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return str(error) if isinstance(error, FocusevalError) else f"{type(error).__name__}: {error}; please report this"


def _end_without_verdict(reason: str, options: dict[str, Any]) -> NoReturn:
    """Say in one line why there is no verdict, tell CI, and end with 2."""
    from focuseval.cli import _forget_output  # noqa: PLC0415  it loads this module
    from focuseval.data.tables.escape import one_line  # noqa: PLC0415  help must not wait for it

    if sys.stdout is not None:
        _forget_output()
    click.echo(f"NO VERDICT {one_line(reason)}", err=True)
    if options:
        write_no_verdict(reason, options)
    raise SystemExit(2)


def judge_files(gold: str, run: str, options: dict[str, Any]) -> bool:
    """Score the run, judge it, write and print the verdicts; return whether any measure regressed."""
    from focuseval.evaluation.gate import judge, read_baseline  # noqa: PLC0415  help must not wait for it
    from focuseval.inference.regression import GateRule  # noqa: PLC0415  as above

    rule = GateRule(**given(options), min_effect=options["min_effect"])
    baseline = read_baseline(options["baseline"], options["baseline_run"])
    from focuseval.cli.printing import json_text  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.scoring import score_files  # noqa: PLC0415  as above
    from focuseval.evaluation.gate import as_json, as_junit, as_markdown, as_text  # noqa: PLC0415  as above

    scores = score_files(gold, (run,), options)
    verdicts = judge(baseline, scores, options["measures"], rule)
    about = {"baseline": baseline.file, "run": run, "signature": scores.signature}
    text = json_text(about | as_json(verdicts)) if options["layout"] == "json" else as_text(verdicts)
    write_for_ci(as_markdown(verdicts), as_junit(verdicts), options)
    click.echo(text, nl=False)
    return any(verdict.regression for verdict in verdicts)


def write_no_verdict(reason: str, options: dict[str, Any]) -> None:
    """Tell CI that nothing could be compared; a file that cannot be written either is not worth a second line."""
    from focuseval.errors import FocusevalError  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluation.gate import no_verdict_junit, no_verdict_markdown  # noqa: PLC0415  as above

    with suppress(FocusevalError, OSError):
        measures = options["measures"] or ("the profile's measures",)
        write_for_ci(no_verdict_markdown(reason), no_verdict_junit(reason, measures), options)


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
