"""``focuseval gate``: exit 1 when a run is worse than its baseline."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from focuseval.cli.commands import as_options, forget_output
from focuseval.cli.options import FiniteRange, evaluation_options, given, layout_option, significance_options
from focuseval.cli.output import READS, Command, json_text, progress_bar, say_written
from focuseval.cli.score import score_files
from focuseval.data.tables import one_line
from focuseval.errors import FocusevalError, counted
from focuseval.evaluation import gate as gates
from focuseval.evaluation.evaluation import Evaluation
from focuseval.formats.content import write_whole
from focuseval.inference.regression import DECIDE, GateRule
from focuseval.measures import parse

LEAKED = "leaked"
MEASURES = "With --decide all: Holm, or Benjamini–Hochberg.  [default: holm]"


class Gate(Command):
    """A command that ends with 0 or 1 after a verdict, and whatever else happens with 2 and one line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; wrong ones are one line, too."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _end_without_verdict(error.format_message(), {})

    def invoke(self, ctx: click.Context) -> NoReturn:
        """Judge; no exception is a verdict. What is written besides the verdict is no file that is read."""
        options = ctx.params
        if options["update"]:
            options |= {"output": options["baseline"], "baseline": None, "anchor": None}
        if options["anchor"] and not options["ledger"]:
            options["ledger"] = f"{options['anchor'].removesuffix('.json')}.ledger.jsonl"
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
            _end_without_verdict(as_options(error, self), ctx.params)
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
            _write_for_ci(*gates.no_verdict(reason, measures), options)
    raise SystemExit(2)


def _with_leaks(planned: Evaluation) -> Evaluation:
    """Plan to count forbidden characters, too."""
    measures = planned.plan.measures
    if all(asked.key != LEAKED for asked in measures):
        measures = (*measures, parse(LEAKED))
    prepared = replace(planned.prepared, beside=planned.prepared.beside | {"forbidden"})
    return replace(planned, prepared=prepared, plan=replace(planned.plan, measures=measures))


def _write_for_ci(markdown: str, junit: str, options: dict[str, Any]) -> None:
    """Write the files that the options name, and add to the summary of a job of GitHub Actions."""
    for path, text in ((options["junit"], junit), (options["markdown"], markdown)):
        if path:
            write_whole(path, [text.encode()])
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(markdown + "\n")


@click.command(cls=Gate, opens=READS, phases=("reading", "scoring", "judging"))
@click.argument("gold")
@click.argument("run")
@click.option("--baseline", required=True, metavar="FILE", help="Scores that --update or score --per-topic wrote.")
@click.option("--baseline-run", help="Which run of the baseline, when it holds several.")
@click.option("--update", is_flag=True, help="Write RUN's scores as the baseline, and judge nothing.")
@evaluation_options("A measure such as spanR@5; may be repeated: the first decides. By default the profile's.")
@click.option("--decide", type=click.Choice(DECIDE), default=DECIDE[0], help="Whether all measures decide, corrected.")
@click.option("--min-effect", type=FiniteRange(0), default=0.0, help="The smallest mean drop that matters.")
@click.option("--max-lost", metavar="N|N%", help="How many topics may lose --min-effect or more, or which share.")
@click.option("--no-leak", is_flag=True, help="Fail on any forbidden text of the gold that RUN returns.")
@click.option("--strict", is_flag=True, help="Fail (exit code 1) where nothing can be told, too.")
@click.option("--false-alarms", type=click.IntRange(2), metavar="N", help="At most one in N commits: --alpha is 1/N.")
@click.option("--anchor", metavar="FILE", help="Also test against this release, at half of --alpha over all commits.")
@click.option("--ledger", metavar="FILE", help="The tests against the anchor.  [default: ANCHOR.ledger.jsonl]")
@click.option("--all", is_flag=True, help="Print the profile's other measures, too, which decide nothing.")
@significance_options(tails=1, correction=MEASURES)
@layout_option("text", "json", what="A line per measure with the topics that lost most, or JSON.")
@click.option("--junit", metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write Markdown (also appended to $GITHUB_STEP_SUMMARY when set).")
def gate(gold: str, run: str, **options: Any) -> bool:
    r"""Judge RUN against a baseline over the topics of GOLD.

    One measure decides: the first -m, else the profile's. Others that are given with -m are shown, a profile's with
    --all; they decide only with --decide all, corrected by Holm. The run is worse if the mean drops by --min-effect or
    more and the drop is significant, by a paired randomisation test, one-tailed, because only a drop is asked for; or
    if more topics than --max-lost allows lose --min-effect or more. Where so few topics changed that no outcome could
    be significant, nothing can be told. With --no-leak the run is also worse if it returns a character that the gold
    forbids, whatever the baseline did.

    --false-alarms 100 asks for at most one false alarm in 100 commits, on average. --anchor finds slow decay, which no
    step shows: half of --alpha is for the baseline at every commit, and half for all tests against the anchor together.

    Exit code 0: pass, or cannot tell. 1: regression; with --strict cannot tell, too. 2: no verdict (other gold,
    documents, topics or policies; bad input or usage; interrupted).

    \b
    Examples:
      focuseval gate --update --baseline base.json gold.jsonl main.jsonl --docs docs/ --profile rag
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ --profile rag --max-lost 75%
      focuseval gate --baseline base.json gold.jsonl new.jsonl --docs docs/ -m spanR@5 -m IoU@5 --decide all
      focuseval gate --baseline base.json gold.jsonl answers.jsonl --docs docs/ -m citeR --no-leak
      focuseval gate --baseline base.json gold.jsonl new.jsonl -m spanR@5 --false-alarms 100 --anchor v1.json
    """
    source = click.get_current_context().get_parameter_source("alpha")
    if options["false_alarms"] and source is not ParameterSource.DEFAULT:
        raise click.UsageError("--alpha and --false-alarms both set the level; give one of them")
    alpha = 1 / options["false_alarms"] if options["false_alarms"] else options["alpha"]
    named = {name: options[name] for name in ("min_effect", "max_lost", "decide", "strict")}
    rule = GateRule(**given(options | {"alpha": alpha / (2 if options["anchor"] else 1)}), **named)
    if options["update"]:  # the baseline is what is written: see Gate.invoke
        scores = score_files(gold, (run,), options)
        gates.write_baseline(scores, options["output"])
        say_written(options["output"], f"the baseline {scores.runs[0]}, {counted(len(scores.measures), 'measure')}")
        return False
    baseline = gates.read_baseline(options["baseline"], options["baseline_run"])
    anchor = gates.read_baseline(options["anchor"]) if options["anchor"] else None
    with progress_bar() as move:
        scores = score_files(gold, (run,), options, _with_leaks if options["no_leak"] else None)
        move.phase("judging")
        profiled = dict.fromkeys(m for m in (scores.measures[scores.deciding], *scores.measures) if m != LEAKED)
        asked, by = options["measures"] or tuple(profiled), options["clusters"]
        leaks = gates.leaks_of(scores) if options["no_leak"] else None
        verdicts = gates.judge(baseline, scores, asked, rule, clusters=by)
        if anchor:
            verdicts += gates.judge_anchor(anchor, scores, asked, rule, ledger=options["ledger"], clusters=by)
    about = {"baseline": baseline.file, "run": run, "signature": scores.signature}
    few = verdicts if options["all"] or options["measures"] else [one for one in verdicts if one.decides]
    text = gates.as_text(few, leaks)
    if len(few) < len(verdicts):
        text += f"{counted(len(verdicts) - len(few), 'measure')} that the profile shows: --all prints them\n"
    if options["layout"] == "json":
        text = json_text(about | gates.as_json(verdicts, leaks))
    _write_for_ci(gates.as_markdown(verdicts, leaks), gates.as_junit(verdicts, leaks), options)
    click.echo(text, nl=False)
    return (leaks is not None and bool(leaks.characters)) or any(verdict.fails for verdict in verdicts)
