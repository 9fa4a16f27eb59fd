"""Do measures tell runs apart, and do they agree: the matrix of stars, and the heat map of τ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.inference.correlation import correlate, reading
from focuseval.report.charts.chart import Chart, following, left_out, number
from focuseval.report.evidence import MOST_DRAWN
from focuseval.report.verdict import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.report.evidence import Evidence

MOST_CORRELATED = 14
TAU = "datum.tau === null ? '–' : replace(format(datum.tau, '.2f'), '0.', '.')"
"""A τ as it fits into a small cell: .83."""


def significance_stars(evidence: Evidence) -> Chart | None:
    """Draw which run improves significantly on which; rows are there for every measure that was tested."""
    if len(evidence.labels) < 2:
        return None
    drawn, measures = evidence.listed(MOST_DRAWN), evidence.tested
    rows = [row for measure in measures for row in _stars(evidence, drawn, measure)]
    if not rows:
        return None
    found = evidence.compared(evidence.measure)
    names = {"measure": evidence.measure, "method": found.method if found else str(evidence.settings)}
    rest = [name for name in evidence.scores.measures if name not in measures]
    caption = (
        f"★ the row's run improves significantly on the column's under {{measure}} ({{method}}). "
        f"Runs by {evidence.measure}.{_untested(rest)}{left_out(len(drawn), len(evidence.labels))}"
    )
    chart = Chart(
        id="stars",
        title="Which differences are significant",
        caption=caption,
        section="agreement",
        columns=("measure", "row", "column", "mark", "kind"),
        rows=tuple(rows),
        spec=_matrix(),
        pivot=("row", "column", "mark"),
        head="run, better than",
        by="measure",
    )
    return following(chart, names, [evidence.labels[run] for run in drawn])


def _untested(measures: list[str]) -> str:
    """Say under which measures no pair was tested."""
    if not measures:
        return ""
    named = listed(measures if len(measures) <= 3 else [*measures[:2], f"{len(measures) - 2} more measures"])
    return f" Pairs under {named} are not tested here: 'focuseval compare -m' does it."


def _matrix() -> dict[str, Any]:
    """Return a cell for every pair of runs under one measure."""
    axis = {"labelLimit": 120, "labelFontSize": 11, "domain": False, "ticks": False}
    place = {"type": "nominal", "sort": None}
    return {
        "width": {"step": 22},
        "height": {"step": 22},
        "data": {"name": "rows"},
        "transform": [{"filter": {"field": "measure", "equal": "{measure}"}}],
        "encoding": {
            "x": {"field": "column", "title": "… than this run", **place, "axis": {**axis, "labelAngle": -60}},
            "y": {"field": "row", "title": "this run is better …", **place, "axis": axis},
            "tooltip": [{"field": name} for name in ("row", "column", "kind")],
        },
        "layer": [
            {"mark": {"type": "rect", "stroke": "#8886", "strokeWidth": 0.5}, "encoding": {"color": _shade()}},
            {
                "mark": {"type": "text", "baseline": "middle", "fontSize": 13.6},
                "encoding": {"text": {"field": "mark"}},
            },
        ],
    }


def _shade() -> dict[str, Any]:
    scale = {"domain": ["better", "no", "itself"], "range": ["#0072B2aa", "#88888812", "#88888840"]}
    return {"field": "kind", "type": "nominal", "scale": scale, "legend": None}


def _stars(evidence: Evidence, drawn: list[int], measure: str) -> Iterator[tuple[Any, ...]]:
    """Yield a row for every cell: measure, row, column, mark, kind."""
    found = evidence.compared(measure)
    if found is None or len(found.topics) < 2:
        return
    place = {int(run): number for number, run in enumerate(evidence.order)}
    stars = found.stars()
    marks = {"itself": "·", "better": "★", "no": ""}
    for row in drawn:
        for column in drawn:
            kind = "itself" if row == column else "better" if stars[place[row], place[column]] else "no"
            yield (measure, evidence.labels[row], evidence.labels[column], marks[kind], kind)


def tau_heat_map(evidence: Evidence) -> Chart | None:
    """Draw Kendall's τ between the rankings of the runs under every two measures, with the .9 / .8 reading."""
    means = evidence.scores.mean
    known = [m for m in range(means.shape[1]) if not np.isnan(means[:, m]).any()]
    first = sorted(known, key=lambda m: m != evidence.scores.deciding)[:MOST_CORRELATED]
    kept = sorted(first)
    if len(evidence.labels) < 3 or len(kept) < 2:
        return None
    names = [evidence.scores.measures[m] for m in kept]
    matrix = correlate(means[:, kept].T)
    rows = [
        (a, b, number(tau), reading(tau))
        for a, line in zip(names, matrix.tolist(), strict=True)
        for b, tau in zip(names, line, strict=True)
    ]
    caption = _correlated(len(evidence.labels), len(kept), means.shape[1])
    columns = ("a", "b", "tau", "reading")
    spec = _tau_cells(len(kept))
    return Chart("tau", "Do measures agree", caption, "agreement", columns, tuple(rows), spec, ("a", "b", "tau"))


def _correlated(runs: int, drawn: int, measures: int) -> str:
    """Say what is correlated, and how many measures are left out."""
    return (
        f"Kendall's τ between the rankings of {runs} runs under two measures. From .9 on they count as "
        "equivalent, below .8 the differences are noticeable (Voorhees 2001)."
        + (
            ""
            if drawn == measures
            else f" {drawn} of {measures} measures are drawn, the first and the one that decides."
        )
    )


def _tau_cells(measures: int) -> dict[str, Any]:
    """Return a cell for every two measures, shaded by how their τ is read."""
    kinds = ["equivalent", "similar", "noticeable differences", "undefined"]
    scale = {"domain": kinds, "range": ["#0072B2", "#56B4E9", "#E69F00", "#999999"]}
    shade = {"field": "reading", "type": "nominal", "scale": scale, "title": "reading", "legend": {"columns": 2}}
    place = {"type": "nominal", "sort": None, "title": None}
    text = {"condition": {"test": "datum.reading === 'equivalent'", "value": "white"}, "value": "black"}
    return {
        "width": "container",
        "height": {"step": 28},
        "usermeta": {"least": 34 * measures},
        "data": {"name": "rows"},
        "encoding": {
            "x": {"field": "b", **place, "axis": {"orient": "top", "labelAngle": -40, "labelLimit": 160}},
            "y": {"field": "a", **place, "axis": {"labelLimit": 160}},
        },
        "layer": [
            {"mark": {"type": "rect"}, "encoding": {"color": shade}},
            {
                "transform": [{"calculate": TAU, "as": "shown"}],
                "mark": {"type": "text", "fontSize": 10},
                "encoding": {"text": {"field": "shown"}, "color": text},
            },
        ],
    }
