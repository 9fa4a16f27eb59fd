"""A comparison as a table: every pair of runs with its difference, interval, p-values, effect, topics won, power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.tables import ABSENT, Table, numbers, words
from focuseval.errors import counted

if TYPE_CHECKING:
    from focuseval.data.tables import Row
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings

STAR = "⋆"
INTERVAL = "95 % interval, uncorrected"

P_HEADINGS = {"holm": "p (Holm)", "bh": "p (BH)"}


def pairs_table(comparison: Comparison, *, means: bool = False) -> Table:
    """Return every pair, with the runs' means if they stand nowhere else; notes say what was found, and how."""
    c = comparison
    names = [f"{run} ({mean:.4f})" if means else run for run, mean in zip(c.runs, c.means.tolist(), strict=True)]
    rows = tuple(_row(c, k, names) for k in range(c.family))
    corrected = [P_HEADINGS[c.settings.correction]] if c.settings.correction != "none" else []
    columns = (
        *words("better", "worse"),
        *numbers("difference", INTERVAL, "p", *corrected, form="+.4f"),
        *numbers("effect", "won / tied / lost", form=".2f"),
        *numbers("detectable", "topics needed"),
    )
    return Table(f"Pairs under {c.measure}" if rows else "", columns, rows, notes(c))


def _row(c: Comparison, k: int, names: list[str]) -> Row:
    better, worse, star = int(c.better[k]), int(c.worse[k]), f" {STAR}" if c.significant[k] else ""
    shown = [shown_p(float(p[k]), c.settings) for p in (c.p, c.corrected)]
    tested = (shown[0], shown[1] + star) if c.settings.correction != "none" else (shown[0] + star,)
    return (
        names[better],
        names[worse],
        float(c.difference[k]),
        f"[{c.low[k]:+.4f}, {c.high[k]:+.4f}]",
        *tested,
        float(c.effect[k]),
        " / ".join(map(str, c.wins(better, worse))),
        float(c.detectable[k]),
        shown_topics(float(c.needed[k])),
    )


def notes(c: Comparison) -> tuple[str, ...]:
    """Return the sentences below the pairs: what was found, how it was tested, what the columns mean."""
    said = [c.sentence(), f"{c.method}; {_topics(c)}."]
    if c.family:
        said.append(
            "The star decides, not the interval. Detectable: the smallest difference that these topics show "
            f"with probability .8, one pair by itself at {c.settings.alpha:g}; topics needed: for the one observed."
        )
    if c.settings.tails == 1 and c.family:
        said.append("One tail, in the direction seen: of equal runs about twice as many get a star as the level says.")
    return tuple(said)


def _topics(c: Comparison) -> str:
    return counted(len(c.topics), "topic") + (f" ({c.left_out} left out: some run has no value)" if c.left_out else "")


def shown_p(value: float, settings: Settings) -> str:
    """Print a p-value; a bootstrap that never met a contrary draw knows no more than 1 / resamples."""
    if value == 0 and settings.test == "bootstrap":
        return f"<{1 / settings.resamples:.2g}"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def shown_topics(number: float) -> str:
    """Print a number of topics that are needed; none would be enough where nothing differs.

    >>> shown_topics(1234.0), shown_topics(float("inf"))
    ('1,234', '–')
    """
    return f"{int(number):,}" if np.isfinite(number) else ABSENT
