"""Rankings that should agree: the same measure over other recall bases, quantisations or ideals, or other measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MeasureError
from focuseval.inference.correlation import correlate, explain, reading
from focuseval.measures.measure import MeasureCall, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.evaluation import Scores

AXES = ("measures", "recall-bases", "ideals", "quantisations")
"""What `variants` can vary: the measures given, base=full|filtered, ideal=ideal|full of nxCG, quant=…"""

_PARAMETER = {"recall-bases": "base", "ideals": "ideal", "quantisations": "quant"}
_CHOICES = {"recall-bases": ("full", "filtered"), "ideals": ("ideal", "full")}
_BY_SCALE = {
    "coverage": ("strict", "gen"),
    "grades": ("strict", "gen", "sog"),
    "exhaustivity": ("strict5", "gen5", "genLifted"),
    "highlights": ("spec",),
}


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlations between the rankings of runs under several variants of one measure, or several measures."""

    title: str
    names: tuple[str, ...]
    runs: int
    matrix: NDArray[np.float64]
    coefficient: str
    remarks: tuple[str, ...] = ()

    def readings(self) -> list[tuple[str, str, float, str]]:
        """Return every pair: the two names, the coefficient, and what the papers call it."""
        first, second = np.triu_indices(len(self.names), 1)
        values = self.matrix[first, second].tolist()
        return [
            (self.names[i], self.names[j], tau, reading(tau)) for i, j, tau in zip(first, second, values, strict=True)
        ]


def variants(axis: str, measures: Sequence[str], scale: str = "highlights") -> list[tuple[str, tuple[str, ...]]]:
    """Return groups of measure names whose rankings are to be compared, each with a title.

    >>> variants("recall-bases", ["nxCG@5", "MAep"])[0]
    ('nxCG@5', ('nxCG(base=full)@5', 'nxCG(base=filtered)@5'))
    """
    if axis not in AXES:
        raise MeasureError(f"expected an axis among {', '.join(AXES)}, found {axis!r}")
    if axis == "measures":
        return [("measures", tuple(measures))]
    choices = _CHOICES.get(axis) or _BY_SCALE.get(scale, ())
    if len(choices) < 2:
        raise MeasureError(
            f"a gold of scale {scale!r} has one quantisation ({', '.join(choices)}): nothing to correlate"
        )
    groups = []
    for name in measures:
        asked = parse(name)
        if not any(p.name == _PARAMETER[axis] for p in asked.measure.parameters):
            raise MeasureError(f"{name} has no parameter {_PARAMETER[axis]}, so {axis} make no difference to it")
        groups.append((name, tuple(_spelled(asked, _PARAMETER[axis], choice) for choice in choices)))
    return groups


def _spelled(asked: MeasureCall, parameter: str, choice: str) -> str:
    """Return the measure's name with one parameter spelt out, default or not."""
    given = {**asked.given, parameter: choice}
    inside = ", ".join(f"{p.name}={given[p.name]}" for p in asked.measure.parameters if p.name in given)
    return f"{asked.measure.name}({inside})" + (f"@{asked.at}" if asked.at else "")


def correlations(
    scores: Scores, groups: Sequence[tuple[str, tuple[str, ...]]], coefficient: str = "tau-b"
) -> list[Correlation]:
    """Correlate the rankings of the runs within each group of measure names; all of them must have been scored."""
    found = []
    for title, names in groups:
        values = scores.mean[:, [scores.measures.index(name) for name in names]].T
        if np.isnan(values).any():
            raise MeasureError(f"{title}: some mean has no topic, so runs cannot be ranked by it")
        matrix = correlate(values, coefficient)
        remarks = explain(values, names)
        found.append(Correlation(title, names, len(scores.runs), matrix, coefficient, remarks))
    return found
