"""Runs side by side: means with their intervals, and the spread of topics behind each mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.report.charts.chart import Chart, axis, following, left_out, number
from focuseval.report.evidence import MOST_DRAWN

if TYPE_CHECKING:
    from focuseval.report.evidence import Evidence


MOST_FIRST = 20
"""Runs that the first screen has room for."""

_RUNS = {
    "field": "run",
    "type": "nominal",
    "sort": None,
    "title": None,
    "axis": {"labelLimit": 190, "ticks": False, "offset": 6},
}
"""One line per run, in the order of the rows."""


def means_with_intervals(evidence: Evidence) -> Chart | None:
    """Draw every run's mean with its 95 % interval under the measure that decides."""
    listed = evidence.listed(MOST_FIRST)
    found = evidence.intervals[evidence.scores.deciding, listed]
    rows = [
        (evidence.labels[run], *(number(v) for v in row[:3]))
        for run, row in zip(listed, found.tolist(), strict=True)
        if not np.isnan(row[0])
    ]
    if not rows:
        return None
    names = {"measure": evidence.measure}
    if evidence.baseline is not None:
        names["baseline"] = evidence.labels[evidence.baseline]
    caption = (
        "Mean {measure} over topics, with 95 % intervals (BCa bootstrap)."
        + (" Dashed: the baseline." if evidence.baseline is not None else "")
        + left_out(len(listed), len(evidence.labels))
    )
    spec = _intervals(len(rows), baseline=evidence.baseline is not None)
    chart = Chart("means", "Means", caption, "answer", ("run", "mean", "low", "high"), tuple(rows), spec)
    return following(chart, names, [evidence.labels[run] for run in listed])


def _intervals(runs: int, *, baseline: bool) -> dict[str, Any]:
    """Return a point on its interval for every run, and a line through the baseline's mean where there is one."""
    x = axis("mean", "mean {measure}", scale={"zero": True}, axis={"tickCount": 6})
    low, high = (axis(name, x["title"]) for name in ("low", "high"))
    hover = [{"field": "run"}, *({"field": name, "format": ".4f"} for name in ("mean", "low", "high"))]
    end = {"type": "tick", "thickness": 2, "size": 9}
    line = {
        "transform": [{"filter": {"field": "run", "equal": "{baseline}"}}],
        "mark": {"type": "rule", "strokeDash": [4, 3]},
        "encoding": {"x": x, "y": None, "tooltip": None},
    }
    return {
        "width": "container",
        "height": 26 * runs,
        "data": {"name": "rows"},
        "encoding": {"y": _RUNS, "tooltip": hover},
        "layer": [
            *([line] if baseline else []),
            {"mark": {"type": "rule", "strokeWidth": 2.5}, "encoding": {"x": low, "x2": {"field": "high"}}},
            {"mark": end, "encoding": {"x": low}},
            {"mark": end, "encoding": {"x": high}},
            {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1}, "encoding": {"x": x}},
        ],
    }


MOST_POINTS = 60
"""Topics whose values are drawn as points; more are drawn as a distribution."""


def values_per_run(evidence: Evidence) -> Chart | None:
    """Draw the values of all topics, a line per run: points and a box, or for many topics how many have which value."""
    listed, values = evidence.listed(MOST_DRAWN), evidence.values()
    rows = tuple(
        (evidence.labels[run], topic, number(value))
        for run in listed
        for topic, value in zip(evidence.scores.topics, values[run].tolist(), strict=True)
        if not np.isnan(value)
    )
    if not rows:
        return None
    many = len(evidence.scores.topics) > MOST_POINTS
    caption = (
        "How many topics have which value of {measure}; the tick is the mean."
        if many
        else "Every point is one topic; the box holds the middle half of them, its line is the median ({measure})."
    ) + left_out(len(listed), len(evidence.labels))
    spec = {
        "width": "container",
        "height": 34 * len(listed),
        "data": {"name": "rows"},
        "layer": _distribution() if many else _points(),
    }
    columns, pivot = ("run", "topic", "value"), ("topic", "run", "value")
    chart = Chart("values", "Topics behind the means", caption, "topics", columns, rows, spec, pivot)
    return following(chart, {"measure": evidence.measure}, [evidence.labels[run] for run in listed])


def _points() -> list[dict[str, Any]]:
    x = axis("value", "{measure} of a topic")
    hover = [{"field": "run"}, {"field": "topic"}, {"field": "value", "format": ".4f"}]
    box = {"type": "boxplot", "extent": "min-max", "size": 18, "box": {"fillOpacity": 0.28}, "rule": {"opacity": 0.5}}
    point = {"type": "point", "size": 22, "opacity": 0.75, "strokeWidth": 1.2, "cursor": "pointer"}
    return [
        {"mark": box, "encoding": {"x": x, "y": _RUNS}},
        {"mark": point, "encoding": {"x": x, "y": _RUNS, "tooltip": hover}},
    ]


def _distribution() -> list[dict[str, Any]]:
    x = {"bin": {"maxbins": 25}, **axis("value", "{measure} of a topic")}
    count = {"aggregate": "count", "type": "quantitative", "title": "topics"}
    shade = {**count, "scale": {"range": ["#d7e7f2", "#00446b"], "type": "sqrt"}}
    hover = [{"field": "run"}, {**x, "title": "{measure}"}, count]
    mean = {"aggregate": "mean", **axis("value", "{measure} of a topic")}
    told = [{"field": "run"}, {**mean, "title": "mean", "format": ".4f"}]
    return [
        {"mark": {"type": "rect"}, "encoding": {"x": x, "y": _RUNS, "color": shade, "tooltip": hover}},
        {
            "mark": {"type": "tick", "thickness": 3, "size": 28, "color": "#D55E00"},
            "encoding": {"x": mean, "y": _RUNS, "tooltip": told},
        },
    ]
