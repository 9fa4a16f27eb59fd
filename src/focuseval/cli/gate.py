"""``focuseval gate``: exit 1 when a run is worse than its baseline."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from focuseval.cli.commands import as_options, forget_output
from focuseval.cli.options import FiniteRange, evaluation_options, layout_option
from focuseval.cli.output import READS, Command, json_text
from focuseval.cli.score import score_files
from focuseval.cli.significance import given, significance_options
from focuseval.data.tables import one_line
from focuseval.errors import FocusevalError
from focuseval.evaluation import gate as gates
from focuseval.formats.content import write_whole
from focuseval.inference.regression import GateRule

MEASURES = "For many measures: Holm, or Benjamini–Hochberg.  [default: none, each measure by itself]"


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
            sys.stdout.flush()  # a verdict that cannot be printed is none
        except (KeyboardInterrupt, click.Abort):
            _end_without_verdict("interrupted", ctx.params)
        except click.UsageError as error:  # where files would be written may be what is wrong
            _end_without_verdict(error.format_message(), {})
        except OSError as error:
            _end_without_verdict(f"{error.filename or 'standard output'}: {error.strerror or error}", ctx.params)
        except FocusevalError as error:
            _end_without_verdict(as_options(error), ctx.params)
        except Exception as error:  # noqa: BLE001  to CI, a defect is neither a pass nor a regression
            _end_without_verdict(f"{type(error).__name__}: {error}; please report this", ctx.params)
        raise SystemExit(1 if worse else 0)


def _end_without_verdict(reason: str, options: dict[str, Any]) -> NoReturn:
    """Say in one line why there is no verdict, tell CI, and end with 2."""
    forget_output()
    click.echo(f"NO VERDICT {one_line(reason)}", err=True)
    if options:
        measures = options["measures"] or ("the profile's measures",)
        with suppress(FocusevalError, OSError):  # a file that cannot be written either is not worth a second line
            _write_for_ci(gates.no_verdict_markdown(reason), gates.no_verdict_junit(reason, measures), options)
    raise SystemExit(2)


def _write_for_ci(markdown: str, junit: str, options: dict[str, Any]) -> None:
    """Write the files that the options name, and add to the summary of a job of GitHub Actions."""
    if options["junit"]:
        write_whole(options["junit"], [junit.encode()])
    if options["markdown"]:
        write_whole(options["markdown"], [markdown.encode()])
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(markdown + "\n")


@click.command(cls=Gate, opens=READS)
@click.argument("gold")
@click.argument("run")
@click.option("--baseline", required=True, metavar="FILE", help="Scores written with --per-topic --format json.")
@click.option("--baseline-run", help="Which run of the baseline, when it holds several.")
@evaluation_options("A measure such as spanR@5; may be repeated. By default the profile's, or the task's.")
@click.option("--min-effect", type=FiniteRange(0), default=0.0, help="The smallest mean drop that matters.")
@significance_options(tails=1, correction=MEASURES)
@layout_option("text", "json", what="A line per measure with the topics that lost most, or JSON.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write Markdown (also appended to $GITHUB_STEP_SUMMARY when set).")
def gate(gold: str, run: str, **options: Any) -> bool:
    r"""Judge RUN against a baseline over the topics of GOLD.

    A measure regresses if its mean drops by --min-effect or more and the drop is significant: by a paired randomisation
    test, one-tailed, because only a drop is asked for. Where the topics are too few for any outcome to be significant,
    the size of the drop alone decides; without --min-effect there is no verdict.

    Exit code 0: no regression. 1: regression. 2: no verdict (other gold, documents, topics or policies; too few topics;
    bad input or usage; interrupted).

    \b
    Examples:
      focuseval score gold.jsonl main.jsonl --docs docs/ -m spanR@5 --per-topic --format json -o base.json
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ -m spanR@5 --min-effect 0.02
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ --profile rag --format json
    """
    rule = GateRule(**given(options), min_effect=options["min_effect"])
    baseline = gates.read_baseline(options["baseline"], options["baseline_run"])
    scores = score_files(gold, (run,), options)
    verdicts = gates.judge(baseline, scores, options["measures"], rule, options["clusters"])
    about = {"baseline": baseline.file, "run": run, "signature": scores.signature}
    text = json_text(about | gates.as_json(verdicts)) if options["layout"] == "json" else gates.as_text(verdicts)
    _write_for_ci(gates.as_markdown(verdicts), gates.as_junit(verdicts), options)
    click.echo(text, nl=False)
    return any(verdict.regression for verdict in verdicts)
