"""The options that say how a difference is judged, declared once for ``compare``, ``report`` and ``gate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import FiniteRange

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.cli.options import Decorator

TESTS = ("randomisation", "bootstrap", "t", "wilcoxon", "sign")
CORRECTIONS = ("none", "holm", "bh")
MOST_RESAMPLES = 1_000_000
"""As in `focuseval.inference`, for which help does not wait."""

NAMES = ("test", "tails", "resamples", "alpha", "correction", "seed")

PAIRS = "For many pairs: Holm, or Benjamini–Hochberg.  [default: holm; none with --test bootstrap --tails 1]"


def significance_options(*, tails: int = 2, correction: str = PAIRS, draws: str = "10000") -> Decorator:
    """Return a decorator that adds how differences are judged; what is not given is decided by `Settings`."""
    level = FiniteRange(0, 1, min_open=True, max_open=True)
    helps = {
        "test": "Test of significance, paired over topics.",
        "tails": "2: do they differ? 1: is one better, in a direction that was fixed beforehand?",
        "resamples": f"Of the randomisation, the bootstrap and the intervals.  [default: {draws}]",
        "alpha": "Level of significance.",
        "correction": correction,
        "seed": "Random seed; equal seeds give equal numbers.",
    }
    kinds: dict[str, dict[str, Any]] = {
        "test": {"type": click.Choice(TESTS), "default": TESTS[0], "show_default": True},
        "tails": {"type": click.IntRange(1, 2), "default": tails, "show_default": True},
        "resamples": {"type": click.IntRange(1, MOST_RESAMPLES)},
        "alpha": {"type": level, "default": 0.05, "show_default": True},
        "correction": {"type": click.Choice(CORRECTIONS)},
        "seed": {"type": click.IntRange(0), "default": 0, "show_default": True},
    }

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(NAMES):
            command = click.option(f"--{name}", help=helps[name], **kinds[name])(command)
        return command

    return decorate


def baseline_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--baseline``: the run that all others are compared with."""
    text = "The run (file or id) that the others are compared with: the family is the pairs with it."
    return click.option("--baseline", metavar="RUN", help=text)(command)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say of tests, without what they leave open."""
    return {name: options[name] for name in NAMES if options[name] is not None}


def with_baseline(runs: tuple[str, ...], baseline: str | None) -> tuple[str, ...]:
    """Return the runs; a baseline that is a file of its own becomes one of them."""
    return (*runs, baseline) if baseline and baseline not in runs and Path(baseline).is_file() else runs
