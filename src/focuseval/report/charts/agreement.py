"""Do measures tell runs apart, do they agree, and do they order simulated runs: stars, the heat map of τ, fidelity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.inference.correlation import correlate, reading
from focuseval.report.charts.chart import Chart, following, left_out, number
from focuseval.report.evidence import MOST_DRAWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.report.evidence import Evidence

MOST_CORRELATED = 14
TAU = "datum.tau === null ? '–' : replace(format(datum.tau, '.2f'), '0.', '.')"
"""A τ as it fits into a small cell: .83."""
MARKS = {"itself": "·", "better": "★", "no": ""}


def significance_stars(evidence: Evidence) -> Iterator[Chart]:
    """Draw which run improves significantly on which, with rows for every measure."""
    if len(evidence.labels) < 2:
        return
    drawn = evidence.listed(MOST_DRAWN)
    rows: list[tuple[str, ...]] = []
    for found in sorted(evidence.comparisons, key=lambda one: one is None or one.measure != evidence.measure):
        if found is None or len(found.topics) < 2:
            continue
        stars = found.stars()
        for row in drawn:
            for column in drawn:
                kind = "itself" if row == column else "better" if stars[row, column] else "no"
                rows.append((found.measure, evidence.labels[row], evidence.labels[column], MARKS[kind], kind))
    if not rows:
        return
    compared = evidence.compared
    names = {"measure": evidence.measure, "method": str(evidence.settings) if compared is None else compared.method}
    caption = (
        f"★ the row's run improves significantly on the column's under {{measure}} ({{method}}). "
        f"Runs by {evidence.measure}.{left_out(len(drawn), len(evidence.labels))}"
    )
    axis = {"labelLimit": 120, "labelFontSize": 11, "domain": False, "ticks": False}
    position = {"type": "nominal", "sort": None}
    scale = {"domain": ["better", "no", "itself"], "range": ["#0072B2aa", "#88888812", "#88888840"]}
    shade = {"field": "kind", "type": "nominal", "scale": scale, "legend": None}
    text = {"type": "text", "baseline": "middle", "fontSize": 13.6}
    spec: dict[str, Any] = {
        "width": {"step": 22},
        "height": {"step": 22},
        "data": {"name": "rows"},
        "transform": [{"filter": {"field": "measure", "equal": "{measure}"}}],
        "encoding": {
            "x": {"field": "column", "title": "… than this run", **position, "axis": {**axis, "labelAngle": -60}},
            "y": {"field": "row", "title": "this run is better …", **position, "axis": axis},
            "tooltip": [{"field": name} for name in ("row", "column", "kind")],
        },
        "layer": [
            {"mark": {"type": "rect", "stroke": "#8886", "strokeWidth": 0.5}, "encoding": {"color": shade}},
            {"mark": text, "encoding": {"text": {"field": "mark"}}},
        ],
    }
    chart = Chart(
        id="stars",
        title="Which differences are significant",
        caption=caption,
        section="agreement",
        columns=("measure", "row", "column", "mark", "kind"),
        rows=tuple(rows),
        spec=spec,
        pivot=("row", "column", "mark"),
        head="run, better than",
        by="measure",
    )
    yield following(chart, names, [evidence.labels[run] for run in drawn])


def tau_heat_map(evidence: Evidence) -> Iterator[Chart]:
    """Draw Kendall's τ between the rankings of the runs under every two measures, with the .9 / .8 reading."""
    means = evidence.scores.mean
    known = [m for m in range(means.shape[1]) if not np.isnan(means[:, m]).any()]
    kept = sorted(sorted(known, key=lambda m: m != evidence.scores.deciding)[:MOST_CORRELATED])
    if len(evidence.labels) < 3 or len(kept) < 2:
        return
    names = [evidence.scores.measures[m] for m in kept]
    rows = tuple(
        (a, b, number(tau), reading(tau))
        for a, line in zip(names, correlate(means[:, kept].T).tolist(), strict=True)
        for b, tau in zip(names, line, strict=True)
    )
    caption = (
        f"Kendall's τ between the rankings of {len(evidence.labels)} runs under two measures. From .9 on they count as "
        "equivalent, below .8 the differences are noticeable (Voorhees 2001)."
    )
    if len(kept) < means.shape[1]:
        caption += f" {len(kept)} of {means.shape[1]} measures are drawn, the first and the one that decides."
    kinds = ["equivalent", "similar", "noticeable differences", "undefined"]
    scale = {"domain": kinds, "range": ["#0072B2", "#56B4E9", "#E69F00", "#999999"]}
    shade = {"field": "reading", "type": "nominal", "scale": scale, "title": "reading", "legend": {"columns": 2}}
    place = {"type": "nominal", "sort": None, "title": None}
    color = {"condition": {"test": "datum.reading === 'equivalent'", "value": "white"}, "value": "black"}
    label = {
        "transform": [{"calculate": TAU, "as": "shown"}],
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {"text": {"field": "shown"}, "color": color},
    }
    spec = {
        "width": "container",
        "height": {"step": 28},
        "usermeta": {"least": 34 * len(kept)},
        "data": {"name": "rows"},
        "encoding": {
            "x": {"field": "b", **place, "axis": {"orient": "top", "labelAngle": -40, "labelLimit": 160}},
            "y": {"field": "a", **place, "axis": {"labelLimit": 160}},
        },
        "layer": [{"mark": {"type": "rect"}, "encoding": {"color": shade}}, label],
    }
    columns = ("a", "b", "tau", "reading")
    yield Chart("tau", "Do measures agree", caption, "agreement", columns, rows, spec, ("a", "b", "tau"))


def fidelity_grid(evidence: Evidence) -> Iterator[Chart]:
    """Draw the means of simulated runs, whose order is known: the S×R space under every measure that was tested."""
    if evidence.fidelity is None:
        return
    test = evidence.fidelity.space
    rows = tuple(
        (measure, *run.split("-"), number(mean))
        for measure in test.measures
        for run, mean in test.mean(measure).items()
    )
    kept = "; ".join(f"{m} keeps {k} of {n} expected orders" for m in test.measures for k, n in (test.verdict(m),))
    caption = (
        "Means of runs simulated from the gold: worse parts downwards (S to S_LD, S_ST), worse order to the right "
        f"(R_S swaps the first two articles, R_I puts an intruder on top). {kept}."
    )
    place = {"type": "nominal", "sort": None}
    scale = {"domain": [0, 1], "range": ["#e8f1f8", "#005a8c"]}
    shade = {"field": "mean", "type": "quantitative", "scale": scale, "title": "mean", "legend": None}
    dark = {"condition": {"test": "datum.mean > 0.75", "value": "white"}, "value": "black"}
    text = {"text": {"field": "mean", "format": ".3f"}, "color": dark}
    grid = {
        "width": {"step": 56},
        "height": {"step": 28},
        "encoding": {
            "x": {"field": "R", **place, "title": "order of articles (R)", "axis": {"labelAngle": 0}},
            "y": {"field": "S", **place, "title": "parts of articles (S)"},
        },
        "layer": [
            {"mark": "rect", "encoding": {"color": shade}},
            {"mark": {"type": "text", "fontSize": 11}, "encoding": text},
        ],
    }
    spec = {
        "data": {"name": "rows"},
        "facet": {"field": "measure", "type": "nominal", "sort": list(test.measures), "title": None},
        "columns": 2,
        "usermeta": {"facet": 56 * len({r for _, _, r, _ in rows}) + 90},
        "spec": grid,
    }
    columns, pivot = ("measure", "S", "R", "mean"), ("S", "R", "mean")
    yield Chart("fidelity", "Fidelity of measures", caption, "fidelity", columns, rows, spec, pivot, by="measure")
