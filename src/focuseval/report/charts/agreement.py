"""Do measures tell runs apart, and do they agree: the matrix of stars, and the heat map of τ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.report.charts.chart import Chart, left_out, number
from focuseval.significance.correlation import correlate, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.report.evidence import Evidence

MOST_MATRICES = 4
MOST_CORRELATED = 14


def significance_stars(evidence: Evidence) -> Chart | None:
    """Draw, for the first measures, which run improves significantly on which."""
    if len(evidence.labels) < 2:
        return None
    listed = evidence.listed()
    measures = evidence.scores.measures[: MOST_MATRICES if len(listed) <= 12 else 1]
    rows = [row for measure in measures for row in _stars(evidence, listed, measure)]
    if not rows:
        return None
    size = 22 if len(listed) <= 20 else 13
    place = {
        "type": "ordinal",
        "sort": None,
        "axis": {"labelAngle": 0, "labelOverlap": "greedy", "domain": False, "ticks": False},
    }
    spec = {
        "data": {"name": "rows"},
        "facet": {"field": "measure", "type": "nominal", "sort": list(measures), "title": None},
        "columns": 2,
        "usermeta": {"facet": len(listed) * size + 50},
        "spec": {
            "width": {"step": size},
            "height": {"step": size},
            "encoding": {
                "x": {"field": "column", "title": "… than run", **place},
                "y": {"field": "row", "title": "run is better …", **place},
            },
            "layer": [
                {"mark": {"type": "rect", "stroke": "#8886", "strokeWidth": 0.5}, "encoding": {"color": _shade()}},
                {
                    "mark": {"type": "text", "baseline": "middle", "fontSize": size * 0.62},
                    "encoding": {"text": {"field": "mark"}},
                },
            ],
        },
    }
    names = "; ".join(f"{i} {evidence.labels[run]}" for i, run in enumerate(listed, 1))
    found = evidence.compared(measures[0])
    caption = (
        f"★ the row's run improves significantly on the column's ({found.method if found else evidence.settings}). "
        f"Runs by {evidence.measure}: {names}." + left_out(len(listed), len(evidence.labels))
    )
    columns = ("measure", "row", "column", "mark", "kind")
    title = "Which differences are significant"
    pivot = ("row", "column", "mark")
    return Chart("stars", title, caption, "agreement", columns, tuple(rows), spec, pivot, "run, better than", "measure")


def _shade() -> dict[str, Any]:
    scale = {"domain": ["significant", "no", "itself"], "range": ["#0072B2aa", "#88888812", "#88888840"]}
    return {"field": "kind", "type": "nominal", "scale": scale, "legend": None}


def _stars(evidence: Evidence, listed: list[int], measure: str) -> Iterator[tuple[Any, ...]]:
    """Yield a row for every cell: measure, row, column, mark, kind."""
    found = evidence.compared(measure)
    if found is None or len(found.topics) < 2:
        return
    place = {int(run): number for number, run in enumerate(evidence.order)}
    stars = found.stars()
    marks = {"itself": "·", "significant": "★", "no": ""}
    for i, row in enumerate(listed, 1):
        for j, column in enumerate(listed, 1):
            kind = "itself" if i == j else "significant" if stars[place[row], place[column]] else "no"
            yield (measure, i, j, marks[kind], kind)


def tau_heat_map(evidence: Evidence) -> Chart | None:
    """Draw Kendall's τ between the rankings of the runs under every two measures, with the .9 / .8 reading."""
    means = evidence.scores.mean
    kept = [m for m in range(means.shape[1]) if not np.isnan(means[:, m]).any()][:MOST_CORRELATED]
    if len(evidence.labels) < 3 or len(kept) < 2:
        return None
    names = [evidence.scores.measures[m] for m in kept]
    matrix = correlate(means[:, kept].T)
    rows = [
        (a, b, number(tau), reading(tau))
        for a, line in zip(names, matrix.tolist(), strict=True)
        for b, tau in zip(names, line, strict=True)
    ]
    kinds = ["equivalent", "similar", "noticeable differences", "undefined"]
    scale = {"domain": kinds, "range": ["#0072B2", "#56B4E9", "#E69F00", "#999999"]}
    place = {"type": "nominal", "sort": None, "title": None}
    text = {"condition": {"test": "datum.reading === 'equivalent'", "value": "white"}, "value": "black"}
    spec = {
        "width": {"step": 46},
        "height": {"step": 28},
        "data": {"name": "rows"},
        "encoding": {
            "x": {"field": "b", **place, "axis": {"orient": "top", "labelAngle": -40, "labelLimit": 160}},
            "y": {"field": "a", **place, "axis": {"labelLimit": 160}},
        },
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {
                    "color": {
                        "field": "reading",
                        "type": "nominal",
                        "scale": scale,
                        "title": "reading",
                        "legend": {"columns": 2},
                    }
                },
            },
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {"text": {"field": "tau", "format": ".2f"}, "color": text},
            },
        ],
    }
    caption = (
        f"Kendall's τ between the rankings of {len(evidence.labels)} runs under two measures. From .9 on they count as "
        "equivalent, below .8 the differences are noticeable (Voorhees 2001)."
        + ("" if len(kept) == means.shape[1] else f" The first {len(kept)} of {means.shape[1]} measures are drawn.")
    )
    columns = ("a", "b", "tau", "reading")
    return Chart("tau", "Do measures agree", caption, "agreement", columns, tuple(rows), spec, ("a", "b", "tau"))
