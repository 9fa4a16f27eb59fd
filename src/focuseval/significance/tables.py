"""A comparison as a table: every pair of runs with its difference, interval, p-value, effect and topics won."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.tables import Table, numbers, words

if TYPE_CHECKING:
    from focuseval.significance.comparison import Comparison, Settings

STAR = "⋆"


def pairs_table(comparison: Comparison, *, means: bool = False) -> Table:
    """Return every pair, with the runs' means if they stand nowhere else; notes say what was found, and how."""
    c = comparison
    names = [f"{run} ({mean:.4f})" if means else run for run, mean in zip(c.runs, c.means.tolist(), strict=True)]
    rows = tuple(
        (
            names[better],
            names[worse],
            float(c.difference[k]),
            f"[{c.low[k]:+.4f}, {c.high[k]:+.4f}]",
            shown_p(float(c.p[k]), c.settings) + (f" {STAR}" if c.significant[k] else ""),
            float(c.effect[k]),
            " / ".join(map(str, c.wins(better, worse))),
        )
        for k, (better, worse) in enumerate(zip(c.better.tolist(), c.worse.tolist(), strict=True))
    )
    columns = (
        *words("better", "worse"),
        *numbers("difference", "95 % interval", "p", form="+.4f"),
        *numbers("effect", "won / tied / lost", form=".2f"),
    )
    title = f"Pairs under {c.measure}" if rows else ""
    return Table(title, columns, rows, (c.sentence(), f"{c.settings}; {len(c.topics)} topics."))


def shown_p(value: float, settings: Settings) -> str:
    """Print a p-value; a resampling test that never met a contrary draw knows no more than 1 / resamples."""
    if value == 0 and settings.test == "bootstrap":
        return f"<{1 / settings.resamples:.2g}"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
