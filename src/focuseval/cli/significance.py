"""Options that say how differences between runs are judged, for compare, report, sweep and gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import FiniteRange, combined
from focuseval.inference.settings import CORRECTIONS, INTERVALS, MOST_RESAMPLES, TESTS

if TYPE_CHECKING:
    from focuseval.cli.options import Decorator

SIGNIFICANCE = ("test", "tails", "resamples", "alpha", "correction", "seed", "interval")
"""Options that say how a difference is judged."""
PAIRS = "For many pairs: Holm, or Benjamini–Hochberg.  [default: holm; none with --test bootstrap --tails 1]"

_CLUSTERS = "Judge topics in clusters: document, tag:NAME (tags such as NAME:value), or a field such as group."
cluster_by_option = click.option("--cluster-by", "clusters", metavar="WHAT", help=_CLUSTERS)


def significance_options(*, tails: int = 2, correction: str = PAIRS, draws: str = "10000") -> Decorator:
    """Return a decorator that adds how differences are judged; what is not given is decided by `Settings`."""
    direction = "2: do they differ? 1: is one better, in a direction that was fixed beforehand?"
    resampled = f"Resamples of randomisation, bootstrap and intervals.  [default: {draws}]"
    level = FiniteRange(0, 1, min_open=True, max_open=True)
    made = "95 % intervals by Student's t, or by a bootstrap: studentised or BCa."
    return combined(
        click.option("--test", type=click.Choice(TESTS), default=TESTS[0], help="Significance test, paired by topic."),
        click.option("--tails", type=click.IntRange(1, 2), default=tails, help=direction),
        click.option("--resamples", type=click.IntRange(1, MOST_RESAMPLES), help=resampled),
        click.option("--alpha", type=level, default=0.05, help="Level of significance."),
        click.option("--correction", type=click.Choice(CORRECTIONS), help=correction),
        click.option("--seed", type=click.IntRange(0), default=0, help="Random seed; equal seeds give equal numbers."),
        click.option("--interval", type=click.Choice(INTERVALS), default=INTERVALS[0], help=made),
        cluster_by_option,
    )


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say of tests, without what they leave open."""
    return {name: options[name] for name in SIGNIFICANCE if options[name] is not None}


baseline_option = click.option(
    "--baseline", metavar="RUN", help="The run (file or id) to compare the others with; only these pairs are tested."
)


def with_baseline(runs: tuple[str, ...], baseline: str | None) -> tuple[str, ...]:
    """Return the runs; a baseline that is a file of its own becomes one of them."""
    return (*runs, baseline) if baseline and baseline not in runs and Path(baseline).is_file() else runs
