"""Runs side by side: means with their intervals, the topics behind each mean, and where A and B differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.inference.paired import wins_sentence
from focuseval.report.charts.chart import Chart, axis, following, left_out, number, wide
from focuseval.report.evidence import MOST_DRAWN
from focuseval.report.first_screen import by_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.report.evidence import Evidence

MOST_FIRST = 20
"""Runs that the first screen has room for."""
MOST_POINTS = 60
"""Topics whose values are drawn as points; more are drawn as a distribution."""
MOST_NAMES = 40
"""Topics whose names fit below the bars."""

_RUNS = {
    "field": "run",
    "type": "nominal",
    "sort": None,
    "title": None,
    "axis": {"labelLimit": 190, "ticks": False, "offset": 6},
}
"""One line per run, in the order of the rows."""


def means_with_intervals(evidence: Evidence) -> Iterator[Chart]:
    """Draw every run's mean with its 95 % interval, and a line through the baseline's mean where there is one."""
    listed = evidence.listed(MOST_FIRST)
    found = evidence.intervals[evidence.scores.deciding, listed]
    rows = [
        (evidence.labels[run], *(number(v) for v in row[:3]))
        for run, row in zip(listed, found.tolist(), strict=True)
        if not np.isnan(row[0])
    ]
    if not rows:
        return
    names, dashed, baseline = {"measure": evidence.measure}, "", []
    x = axis("mean", "mean {measure}", scale={"zero": True}, axis={"tickCount": 6})
    low, high = (axis(name, x["title"]) for name in ("low", "high"))
    if evidence.baseline is not None:
        names["baseline"] = evidence.labels[evidence.baseline]
        dashed = " Dashed: the baseline."
        baseline.append(
            {
                "transform": [{"filter": {"field": "run", "equal": "{baseline}"}}],
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": {"x": x, "y": None, "tooltip": None},
            }
        )
    caption = (
        f"Mean {{measure}} over topics, with 95 % intervals (BCa bootstrap).{dashed}"
        f"{left_out(len(listed), len(evidence.labels))}"
    )
    hover = [{"field": "run"}, *({"field": name, "format": ".4f"} for name in ("mean", "low", "high"))]
    end = {"type": "tick", "thickness": 2, "size": 9}
    spec = wide(
        26 * len(rows),
        encoding={"y": _RUNS, "tooltip": hover},
        layer=[
            *baseline,
            {"mark": {"type": "rule", "strokeWidth": 2.5}, "encoding": {"x": low, "x2": {"field": "high"}}},
            {"mark": end, "encoding": {"x": low}},
            {"mark": end, "encoding": {"x": high}},
            {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1}, "encoding": {"x": x}},
        ],
    )
    chart = Chart("means", "Means", caption, "answer", ("run", "mean", "low", "high"), tuple(rows), spec)
    yield following(chart, names, [evidence.labels[run] for run in listed])


def differences_per_topic(evidence: Evidence) -> Iterator[Chart]:
    """Draw A minus B for every topic, sorted from A's greatest loss to its greatest gain."""
    if evidence.pair is None:
        return
    a, b = (evidence.labels[run] for run in evidence.pair)
    found = by_topic(evidence)
    if not found:
        return
    rows = tuple(
        (d.topic, number(d.a), number(d.b), number(d.difference), a if d.difference >= 0 else b) for d in found
    )
    compared = evidence.compared
    wins = "" if compared is None else wins_sentence(compared.against(*evidence.pair))
    names = {"a": a, "b": b, "measure": evidence.measure, "wins": wins, "topics": f"{len(found):,}"}
    caption = "A ({a}) minus B ({b}) in {measure}. {wins} Bars above the line are A's gains."
    named = len(rows) <= MOST_NAMES
    hover = [{"field": "topic"}, *({"field": f, "title": t, "format": ".4f"} for f, t in (("a", "{a}"), ("b", "{b}")))]
    better = {"field": "better", "type": "nominal", "title": "better", "scale": {"domain": ["{a}", "{b}"]}}
    topic = {
        "field": "topic",
        "type": "nominal",
        "sort": None,
        "title": "topic" if named else "{topics} topics, sorted",
        "axis": {"labels": named, "ticks": named, "labelAngle": -50, "labelLimit": 90},
    }
    encoding = {
        "x": topic,
        "y": axis("difference", "{measure}, A − B"),
        "color": {**better, "sort": None},
        "tooltip": [*hover, {"field": "difference", "format": "+.4f"}],
    }
    spec = wide(260, mark={"type": "bar", "cursor": "pointer"}, encoding=encoding)
    columns = ("topic", "a", "b", "difference", "better")
    yield following(Chart("differences", "Differences per topic", caption, "topics", columns, rows, spec), names)


def values_per_run(evidence: Evidence) -> Iterator[Chart]:
    """Draw the values of all topics, a line per run: points and a box, or for many topics how many have which value."""
    listed, values = evidence.listed(MOST_DRAWN), evidence.values()
    rows = tuple(
        (evidence.labels[run], topic, number(value))
        for run in listed
        for topic, value in zip(evidence.scores.topics, values[run].tolist(), strict=True)
        if not np.isnan(value)
    )
    if not rows:
        return
    x = axis("value", "{measure} of a topic")
    if len(evidence.scores.topics) > MOST_POINTS:
        caption = "How many topics have which value of {measure}; the tick is the mean."
        binned = {"bin": {"maxbins": 25}, **x}
        count = {"aggregate": "count", "type": "quantitative", "title": "topics"}
        shade = {**count, "scale": {"range": ["#d7e7f2", "#00446b"], "type": "sqrt"}}
        hover = [{"field": "run"}, {**binned, "title": "{measure}"}, count]
        mean = {"aggregate": "mean", **x}
        tick = {"type": "tick", "thickness": 3, "size": 28, "color": "#D55E00"}
        tip = [{"field": "run"}, {**mean, "title": "mean", "format": ".4f"}]
        layer = [
            {"mark": {"type": "rect"}, "encoding": {"x": binned, "y": _RUNS, "color": shade, "tooltip": hover}},
            {"mark": tick, "encoding": {"x": mean, "y": _RUNS, "tooltip": tip}},
        ]
    else:
        caption = "Every point is one topic; the box holds the middle half of them, its line is the median ({measure})."
        hover = [{"field": "run"}, {"field": "topic"}, {"field": "value", "format": ".4f"}]
        box = {"type": "boxplot", "extent": "min-max", "size": 18, "box": {"fillOpacity": 0.28}}
        point = {"type": "point", "size": 22, "opacity": 0.75, "strokeWidth": 1.2, "cursor": "pointer"}
        layer = [
            {"mark": {**box, "rule": {"opacity": 0.5}}, "encoding": {"x": x, "y": _RUNS}},
            {"mark": point, "encoding": {"x": x, "y": _RUNS, "tooltip": hover}},
        ]
    caption += left_out(len(listed), len(evidence.labels))
    columns, pivot, spec = ("run", "topic", "value"), ("topic", "run", "value"), wide(34 * len(listed), layer=layer)
    chart = Chart("values", "Topics behind the means", caption, "topics", columns, rows, spec, pivot)
    yield following(chart, {"measure": evidence.measure}, [evidence.labels[run] for run in listed])
