"""Comparisons and correlations as grids: what the papers print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.compare.grid import Grid
from focuseval.significance.intervals import bca
from focuseval.significance.showing import shown_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.compare.variants import Correlation
    from focuseval.significance.comparison import Comparison

STAR = "⋆"


def means_grid(comparisons: Sequence[Comparison]) -> Grid:
    """Return the runs in order, each with its mean and 95 % interval under every measure."""
    first = comparisons[0]
    columns = []
    for c in comparisons:
        low, high = bca(c.values, resamples=max(1000, c.settings.resamples), seed=c.settings.seed)
        columns.append([f"{m:.4f} [{a:.4f}, {b:.4f}]" for m, a, b in zip(c.means, low, high, strict=True)])
    body = tuple((str(i + 1), name, *(col[i] for col in columns)) for i, name in enumerate(first.runs))
    topics = ", ".join(dict.fromkeys(f"{len(c.topics)}" for c in comparisons))
    title = f"Means over {topics} topic{'' if topics == '1' else 's'}, with 95 % confidence intervals"
    return Grid(title, ("#", "run", *(c.measure for c in comparisons)), body)


def star_grid(comparison: Comparison) -> Grid:
    """Return the significance matrix: a star where the row improves significantly on the column."""
    count = len(comparison.runs)
    numbers = [str(i + 1) for i in range(count)]
    stars = comparison.stars()
    body = tuple(
        (numbers[i], *(STAR if stars[i, j] else "·" if i == j else "" for j in range(count))) for i in range(count)
    )
    power = "" if np.isnan(comparison.power) else f" Discriminative power {comparison.power:.1%}."
    notes = (comparison.sentence() + power, f"{STAR}: the row's run improves on the column's ({comparison.settings}).")
    return Grid(
        f"Significant improvements under {comparison.measure}", ("", *numbers), body if count > 1 else (), notes
    )


def pairs_grid(comparison: Comparison) -> Grid:
    """Return every pair: difference with its interval, p, effect size, topics won, tied and lost."""
    rows = []
    for k, (i, j) in enumerate(zip(comparison.better.tolist(), comparison.worse.tolist(), strict=True)):
        won, tied, lost = comparison.wins(i, j)
        rows.append(
            (
                f"{comparison.runs[i]} → {comparison.runs[j]}",
                f"{comparison.difference[k]:+.4f}",
                f"[{comparison.low[k]:+.4f}, {comparison.high[k]:+.4f}]",
                shown_p(comparison.p[k], comparison.settings) + (f" {STAR}" if comparison.significant[k] else ""),
                f"{comparison.effect[k]:.2f}",
                f"{won} / {tied} / {lost}",
            )
        )
    head = ("better → worse", "difference", "95 % interval", "p", "effect d", "won / tied / lost")
    return Grid(f"Pairs under {comparison.measure}", head, tuple(rows), (comparison.sentence(),))


def deciding_grid(comparison: Comparison, most: int = 5) -> Grid:
    """Return, for two runs, the topics that decide between them."""
    topics = comparison.deciding(0, 1, most)
    index = {name: i for i, name in enumerate(comparison.topics)}
    first, second = comparison.runs
    body = tuple(
        (t, f"{comparison.values[0, index[t]]:.4f}", f"{comparison.values[1, index[t]]:.4f}", f"{d:+.4f}")
        for t, d in topics
    )
    notes = () if body else ("No topic tells the two runs apart.",)
    return Grid(f"Topics that decide under {comparison.measure}", ("topic", first, second, "difference"), body, notes)


def correlation_grid(correlation: Correlation) -> Grid:
    """Return a matrix of correlations, or for two names one line with its reading."""
    sign = {"tau-b": "τ_b", "tau-a": "τ_a", "tau-ap": "τ_AP", "spearman": "ρ"}[correlation.coefficient]
    title = f"Correlation ({sign}) of the rankings of {correlation.runs} runs: {correlation.title}"
    notes = (*correlation.remarks, "≥ .9: equivalent; < .8: noticeable differences (Voorhees 2001).")
    if len(correlation.names) == 2:
        pairs = tuple((f"{a} – {b}", _tau(tau), said) for a, b, tau, said in correlation.readings())
        return Grid(title, ("between", sign, "reading"), pairs, notes)
    body = tuple(
        (name, *(_tau(tau) for tau in row))
        for name, row in zip(correlation.names, correlation.matrix.tolist(), strict=True)
    )
    return Grid(title, ("", *correlation.names), body, notes)


def _tau(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"


def as_json(comparisons: Sequence[Comparison], correlations: Sequence[Correlation] = ()) -> dict[str, Any]:
    """Return everything the tables show, as plain values; an infinite effect is null."""
    return {
        "comparisons": [_comparison_json(c) for c in comparisons],
        "correlations": [
            {
                "title": c.title,
                "coefficient": c.coefficient,
                "runs": c.runs,
                "pairs": [{"a": a, "b": b, "value": _plain(v), "reading": r} for a, b, v, r in c.readings()],
                "remarks": list(c.remarks),
            }
            for c in correlations
        ],
    }


def _comparison_json(c: Comparison) -> dict[str, Any]:
    significant = c.significant
    return {
        "measure": c.measure,
        "settings": {**vars(c.settings)},
        "topics": list(c.topics),
        "runs": [{"run": name, "mean": float(mean)} for name, mean in zip(c.runs, c.means, strict=True)],
        "significant": int(significant.sum()),
        "power": _plain(c.power),
        "sentence": c.sentence(),
        "pairs": [
            {
                "better": c.runs[i],
                "worse": c.runs[j],
                "difference": float(c.difference[k]),
                "interval": [float(c.low[k]), float(c.high[k])],
                "p": float(c.p[k]),
                "effect": _plain(float(c.effect[k])),
                "significant": bool(significant[k]),
                "won_tied_lost": list(c.wins(i, j)),
            }
            for k, (i, j) in enumerate(zip(c.better.tolist(), c.worse.tolist(), strict=True))
        ],
    }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
