"""Cost against quality: how much text a run makes a reader read, and how much of the highlighted text is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.report.charts.chart import Chart, axis, left_out, number
from focuseval.report.observe import READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.report.evidence import Evidence

MOST_NAMED = 8
"""Runs that are all named; of more only A, B, the cheapest and the most costly one."""
WIDE = 20
"""Times the cheapest run's cost from which on costs are drawn on a logarithmic scale."""
ON, BEHIND = "on the frontier", "behind it"


def cost_and_quality(evidence: Evidence) -> Chart | None:
    """Draw every run at its characters and its recall; mark those that no other run beats in both."""
    seen = [(evidence.labels[run], o.reading) for run, o in zip(evidence.drawn, evidence.observed, strict=True)]
    points = [(label, *reading) for label, reading in seen if reading is not None]
    if len(points) < 2:
        return None
    best = on_frontier(np.array([point[1] for point in points]), np.array([point[2] for point in points]))
    rows = tuple(
        (label, round(cost, 1), number(recall), ON if first else BEHIND)
        for (label, cost, recall), first in sorted(zip(points, best.tolist(), strict=True), key=lambda p: p[0][1])
    )
    pair = {evidence.labels[run] for run in evidence.pair or ()}
    ends = {rows[0][0], rows[-1][0]}
    named = [row for row in rows if len(rows) <= MOST_NAMED or row[0] in pair | ends]
    caption = (
        f"Each point is a run: the mean number of characters in its first {READ} results, each once, against the mean "
        "share of the highlighted text in them. No run on the frontier is beaten by another one that costs no more and "
        f"finds at least as much.{left_out(len(points), len(evidence.labels))}"
    )
    columns = ("run", "characters", "recall", "frontier")
    return Chart("cost", "Cost against quality", caption, "curves", columns, rows, _spec(rows, named))


def _spec(rows: tuple[tuple[Any, ...], ...], named: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return points with the names of some, and the frontier as steps; costs that differ widely on a log scale."""
    costs = [row[1] for row in rows]
    wide = costs[0] > 0 and costs[-1] / costs[0] > WIDE
    scale = {"type": "log"} if wide else {"zero": False}
    ticks = {"axis": {"values": [d * 10**n for n in range(10) for d in (1, 3)]}} if wide else {}
    title = f"mean characters of the first {READ} results" + (" (log scale)" if wide else "")
    front = {"type": "line", "strokeDash": [4, 3], "interpolate": "step-after", "opacity": 0.7}
    middle = (costs[0] * costs[-1]) ** 0.5 if wide else (costs[0] + costs[-1]) / 2
    return {
        "width": "container",
        "height": 320,
        "data": {"name": "rows"},
        "encoding": {
            "x": axis("characters", title, scale={**scale, "nice": True}, **ticks),
            "y": axis("recall", f"spanR@{READ}", scale={"zero": False}),
        },
        "layer": [
            {
                "transform": [{"filter": f"datum.frontier === '{ON}'"}],
                "mark": front,
                "encoding": {"order": {"field": "characters"}},
            },
            _points([kind for kind in (ON, BEHIND) if any(row[3] == kind for row in rows)]),
            *_labels([row[0] for row in named if row[1] <= middle], "left"),
            *_labels([row[0] for row in named if row[1] > middle], "right"),
        ],
    }


def _points(kinds: list[str]) -> dict[str, Any]:
    """Return a point for every run; its shape and colour say whether it is on the frontier."""
    shapes = [{ON: "circle", BEHIND: "cross"}[kind] for kind in kinds]
    by = {"field": "frontier", "type": "nominal", "title": "run"}
    hover = [
        {"field": "run"},
        {"field": "characters", "format": ",.0f"},
        {"field": "recall", "format": ".4f"},
        {"field": "frontier"},
    ]
    encoding = {
        "shape": {**by, "scale": {"domain": kinds, "range": shapes}},
        "color": {**by, "scale": {"domain": kinds}},
        "tooltip": hover,
    }
    return {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1}, "encoding": encoding}


def _labels(runs: list[str], align: str) -> Iterator[dict[str, Any]]:
    """Write the names of some runs beside their points, towards the middle: neighbours above and below in turn."""
    for own, dy in ((runs[::2], -9), (runs[1::2], 13)):
        if own:
            text = {"type": "text", "align": align, "dx": 6 if align == "left" else -6, "dy": dy}
            yield {
                "transform": [{"filter": {"field": "run", "oneOf": own}}],
                "mark": {**text, "fontSize": 11, "limit": 150},
                "encoding": {"text": {"field": "run"}},
            }


def on_frontier(cost: NDArray[np.float64], quality: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which points no other beats: none costs no more and is as good, unless it is the same in both.

    >>> on_frontier(np.array([100.0, 200.0, 200.0, 300.0]), np.array([0.5, 0.4, 0.6, 0.6])).tolist()
    [True, False, True, False]
    """
    cheaper = (cost[:, None] <= cost) & (quality[:, None] >= quality)
    better = cheaper & ((cost[:, None] < cost) | (quality[:, None] > quality))
    return np.asarray(~better.any(axis=0))
