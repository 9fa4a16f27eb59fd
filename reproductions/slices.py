"""How often a report of two equal systems shows some slice on which one of them seems better.

A report of so many topics divides them as `focuseval.report.choices` does: into thirds by four properties, and by
twelve tags of falling size. Topics are drawn from the differences of two simulated systems
(`reproductions.simulated_systems`): with random signs (*equal systems*), or with their mean subtracted (*equal means*,
which leaves them skewed). *Before* is the interval that reports had: BCa, uncorrected, of two topics or more. *Now* is
`focuseval.inference.intervals`.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import Table, numbers, words
from focuseval.inference.intervals import FEWEST, bca, judge_slices
from reproductions.significance_tests import equal_systems, populations

TOPICS = (30, 60, 150, 500)
REPORTS = 200
"""Of every population."""
TAGS = 12


def slices_of(topics: int, rng: np.random.Generator) -> list[list[int]]:
    """Return four divisions of topics into thirds, and tags from a third of them down, each a fifth smaller."""
    thirds = np.linspace(0, topics, 4).astype(int)
    found = []
    for _ in range(4):
        order = rng.permutation(topics)
        found += [order[a:b].tolist() for a, b in pairwise(thirds)]
    sizes = [max(2, round(topics / 3 * 0.8**place)) for place in range(TAGS)]
    return found + [rng.choice(topics, size, replace=False).tolist() for size in sizes]


def reports(kind: str, topics: int) -> NDArray[np.float64]:
    """Return the differences of two systems in every report: reports × topics."""
    rng = np.random.default_rng(topics)
    drawn = np.concatenate([rng.choice(values, (REPORTS, topics)) for values in populations(kind)])
    return equal_systems(rng, drawn) if kind == "equal systems" else drawn


def shown(kind: str, topics: int) -> tuple[float, float, float]:
    """Return the share of reports with a slice whose interval leaves out 0: before, and now; and with a verdict now."""
    differences, slices = reports(kind, topics), slices_of(topics, np.random.default_rng(1))
    before, without, verdict = np.zeros((3, len(differences)), np.bool_)
    for part in slices:
        low, high = bca(differences[:, part], resamples=1000)
        before |= (low > 0) | (high < 0)
    for found in judge_slices(differences, slices):
        if found is not None:
            without |= (found.low > 0) | (found.high < 0)
            verdict |= found.lead != 0
    return float(before.mean()), float(without.mean()), float(verdict.mean())


def tables() -> list[Table]:
    """Return the shares for both kinds of systems that do not differ."""
    rows = []
    for kind in ("equal systems", "equal means"):
        for topics in TOPICS:
            judged = sum(len(part) >= FEWEST for part in slices_of(topics, np.random.default_rng(1)))
            rows.append((kind, topics, judged, *(100 * share for share in shown(kind, topics))))
    heads = ("interval without 0, before", "interval without 0, now", "verdict, now")
    columns = (*words("systems"), *numbers("topics", "slices judged", form=".0f"), *numbers(*heads, form=".1f"))
    note = f"{REPORTS} reports of each of the {len(populations('equal systems'))} populations of equal systems, and of"
    note += f" the {len(populations('equal means'))} of equal means; 24 slices each, judged from {FEWEST} topics on."
    title = "Reports of systems that do not differ which show some slice, in percent"
    return [Table(title, columns, tuple(rows), (note, "5.0 is what is allowed."))]
