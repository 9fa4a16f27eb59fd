"""``focuseval compare``: is a difference between runs real, and do measures agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, progress_bar, trial_files, write_results
from focuseval.cli.score import score_files
from focuseval.data.tables import Table
from focuseval.errors import MeasureError, counted
from focuseval.evaluation import comparing
from focuseval.evaluation.comparing import AXES
from focuseval.evaluation.evaluation import Evaluation
from focuseval.evaluation.scores import oriented
from focuseval.inference.comparison import Comparison
from focuseval.inference.correlation import COEFFICIENTS
from focuseval.measures import parse

TRIALS = "Several runs of one system, such as 'rag=rag.*.jsonl', of which the mean is tested; may be repeated."


@click.command(cls=Command, opens=READS, phases=("reading", "scoring", "comparing"))
@click.argument("gold")
@click.argument("runs", nargs=-1, metavar="RUN...")
@shared.evaluation_options()
@shared.significance_options(draws="10000; 1000 with --test bootstrap --tails 1")
@shared.baseline_option
@click.option("--trials", multiple=True, metavar="NAME=FILES", help=TRIALS)
@click.option("--all", is_flag=True, help="All measures of the profile; without -m only the one that decides.")
@click.option("--pairs", is_flag=True, help="Print every pair (always done for up to 6 runs).")
@click.option("--correlate", "axes", type=click.Choice(AXES), multiple=True, help="Correlate rankings; repeatable.")
@click.option("--coefficient", type=click.Choice(COEFFICIENTS), default="tau-b", help="Correlation for --correlate.")
@shared.jobs_option
@shared.cluster_option
@shared.results_options
def compare(gold: str, runs: tuple[str, ...], **options: Any) -> None:
    r"""Compare RUNs over the topics of GOLD: means with intervals, the significance matrix, rank correlations.

    Runs are ordered by the first measure; each measure has its own matrix of stars. A star says that a difference is
    significant: by a two-tailed paired randomisation test, exact where up to 24 topics differ, with Holm's correction
    over all pairs, or over those with --baseline. Where so few topics differ that no outcome could be significant, the
    output says so. The test of the papers is --test bootstrap --tails 1.

    \b
    Examples:
      focuseval compare gold.txt a.txt b.txt -m MAgP --task relevant-in-context
      focuseval compare qrels.txt run*.txt -m AP -m P@10 --baseline bm25.txt --format latex
      focuseval compare assessments/ run*.xml --profile inex2006 --task focused --test bootstrap --tails 1
      focuseval compare assessments/ run*.xml -m nxCG@5 -m MAep --correlate recall-bases
      focuseval compare judging/ run*.xml -m MAgP --adjudicated
      focuseval compare squad.json a.jsonl b.jsonl -m spanR@5 --cluster-by document
      focuseval compare gold.jsonl bm25.jsonl --trials 'rag=rag.*.jsonl' -m spanR@5
    """
    measures: list[str] = []
    groups: list[tuple[str, tuple[str, ...]]] = []

    def with_variants(planned: Evaluation) -> Evaluation:
        """Plan what the correlations need, too, so that everything is scored once."""
        measures[:] = dict.fromkeys(measure.key for measure in planned.plan.measures)
        refused: dict[str, MeasureError] = {}
        for axis in options["axes"]:
            for names in [measures] if axis == "measures" else [[name] for name in measures]:
                try:
                    groups.extend(comparing.variants(axis, names, planned.prepared.gold.scale))
                except MeasureError as why:
                    refused[f"--correlate {axis}: {why}"] = why
        if refused and not groups:
            raise next(iter(refused.values()))
        echo_lines(refused)
        more = dict.fromkeys(name for _, group in groups for name in group if name not in measures)
        return replace(planned, plan=replace(planned.plan, measures=(*planned.plan.measures, *map(parse, more))))

    files, names = _with_trials(shared.with_baseline(runs, options["baseline"]), options["trials"])
    with progress_bar() as move:
        plain = score_files(gold, files, options, with_variants, names)
        move.phase("comparing")
        scores = oriented(plain)
        turned = dict(zip(plain.measures, scores.measures, strict=True))
        shown = measures = [turned[measure] for measure in measures]
        groups = [(axis, tuple(turned[name] for name in group)) for axis, group in groups]
        how = shared.given(options) | {"baseline": options["baseline"], "clusters": options["clusters"]}
        if not (options["measures"] or options["all"] or options["layout"] == "json"):
            shown = [scores.measures[scores.deciding]]  # the rest of a profile only prints
        wanted, turns = len({*shown, *(name for _, group in groups for name in group)}), count()

        @cache
        def judged(measure: str) -> Comparison:
            before = next(turns)
            return scores.compare(measure, progress=lambda n, of: move(before * of + n, wanted * of), **how)

        comparisons = [judged(measure) for measure in shown]
        correlated = comparing.correlations(scores, groups, options["coefficient"], judged)
    repeated = [comparing.trial_table(comparison, scores) for comparison in comparisons] if scores.trials else []
    head = {"signature": scores.signature, "gold_sha256": scores.gold_sha256}
    last = {"trials": [trials.to_json() for trials in repeated]} if repeated else {}

    def tables() -> list[Table]:
        matrices = comparing.comparison_tables(comparisons, every_pair=options["pairs"])
        both = (comparing.correlation_table, comparing.starred_table)
        return [*matrices, *repeated, *(table(one) for one in correlated for table in both)]

    values = partial(comparing.comparisons_json, comparisons, correlated)
    write_results(options, lambda: head | values() | last, tables, scores.signature)
    if len(shown) < len(measures):
        click.echo(f"{counted(len(measures) - len(shown), 'more measure')} of the profile: --all prints them", err=True)


def _with_trials(runs: tuple[str, ...], trials: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of runs and trials, and the names of all if there are trials: other runs have their file's."""
    files, names = [*runs], [*runs]
    for trial in trials:
        name, found = trial.partition("=")[0], trial_files(trial)
        if not name or not found:
            raise click.UsageError(f"Expected --trials NAME=FILES with files that exist, found {trial!r}.")
        files += found
        names += [name] * len(found)
    if not files:
        raise click.UsageError("Missing argument 'RUN...': give runs, or --trials.")
    return tuple(files), tuple(names) if trials else ()
