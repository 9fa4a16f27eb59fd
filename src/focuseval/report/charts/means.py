"""Runs side by side: means with their intervals, and the spread of topics behind each mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.report.charts.chart import Chart, axis, left_out, number
from focuseval.report.first_screen import intervals

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
    """Draw every run's mean with its 95 % interval under the first measure."""
    listed = evidence.listed(MOST_FIRST)
    found = intervals(evidence.values(), evidence.settings)[listed]
    rows = [
        (evidence.labels[run], *(number(v) for v in row[:3]))
        for run, row in zip(listed, found.tolist(), strict=True)
        if not np.isnan(row[0])
    ]
    if not rows:
        return None
    x = axis("mean", f"mean {evidence.measure}", scale={"zero": True}, axis={"tickCount": 6})
    hover = [{"field": "run"}, *({"field": name, "format": ".4f"} for name in ("mean", "low", "high"))]
    spec: dict[str, Any] = {
        "width": "container",
        "height": 26 * len(rows),
        "data": {"name": "rows"},
        "encoding": {"y": _RUNS, "tooltip": hover},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2.5},
                "encoding": {"x": axis("low", x["title"]), "x2": {"field": "high"}},
            },
            {"mark": {"type": "tick", "thickness": 2, "size": 9}, "encoding": {"x": axis("low", x["title"])}},
            {"mark": {"type": "tick", "thickness": 2, "size": 9}, "encoding": {"x": axis("high", x["title"])}},
            {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1}, "encoding": {"x": x}},
        ],
    }
    if evidence.baseline is not None:
        mean = number(float(evidence.scores.mean[evidence.baseline, 0]))
        line = {
            "mark": {"type": "rule", "strokeDash": [4, 3]},
            "encoding": {"x": {"datum": mean}, "y": None, "tooltip": None},
        }
        spec["layer"].insert(0, line)
    caption = (
        f"Mean {evidence.measure} over topics, with 95 % intervals (BCa bootstrap)."
        + (" Dashed: the baseline." if evidence.baseline is not None else "")
        + left_out(len(listed), len(evidence.labels))
    )
    return Chart("means", "Means", caption, "answer", ("run", "mean", "low", "high"), tuple(rows), spec)


def values_per_run(evidence: Evidence) -> Chart | None:
    """Draw every topic's value as a tick, with a box over them, one line per run."""
    listed, values = evidence.listed(), evidence.values()
    rows = [
        (evidence.labels[run], topic, number(value))
        for run in listed
        for topic, value in zip(evidence.scores.topics, values[run].tolist(), strict=True)
        if not np.isnan(value)
    ]
    if not rows:
        return None
    x = axis("value", f"{evidence.measure} of a topic")
    hover = [{"field": "run"}, {"field": "topic"}, {"field": "value", "format": ".4f"}]
    spec = {
        "width": "container",
        "height": 34 * len(listed),
        "data": {"name": "rows"},
        "layer": [
            {
                "mark": {
                    "type": "boxplot",
                    "extent": "min-max",
                    "size": 18,
                    "box": {"fillOpacity": 0.28},
                    "rule": {"opacity": 0.5},
                },
                "encoding": {"x": x, "y": _RUNS},
            },
            {
                "mark": {"type": "point", "size": 22, "opacity": 0.75, "strokeWidth": 1.2},
                "encoding": {"x": x, "y": _RUNS, "tooltip": hover},
            },
        ],
    }
    caption = (
        f"Every point is one topic; the box holds the middle half of them, its line is the median ({evidence.measure})."
        + left_out(len(listed), len(evidence.labels))
    )
    pivot = ("topic", "run", "value")
    return Chart(
        "values", "Topics behind the means", caption, "topics", ("run", "topic", "value"), tuple(rows), spec, pivot
    )
