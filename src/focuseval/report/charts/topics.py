"""Which topics make the difference between A and B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.report.charts.chart import Chart, axis, number
from focuseval.report.first_screen import by_topic

if TYPE_CHECKING:
    from focuseval.report.evidence import Evidence

MOST_NAMES = 40
"""Topics whose names fit below the bars."""


def differences_per_topic(evidence: Evidence) -> Chart | None:
    """Draw A minus B for every topic, sorted from A's greatest loss to its greatest gain."""
    if evidence.pair is None:
        return None
    a, b = (evidence.labels[run] for run in evidence.pair)
    found = by_topic(evidence)
    if not found:
        return None
    rows = [(d.topic, number(d.a), number(d.b), number(d.difference), a if d.difference >= 0 else b) for d in found]
    named = len(rows) <= MOST_NAMES
    hover = [{"field": "topic"}, *({"field": f, "title": t, "format": ".4f"} for f, t in (("a", a), ("b", b)))]
    spec = {
        "width": "container",
        "height": 260,
        "data": {"name": "rows"},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "topic",
                "type": "nominal",
                "sort": None,
                "title": "topic" if named else f"{len(rows)} topics, sorted",
                "axis": {"labels": named, "ticks": named, "labelAngle": -50, "labelLimit": 90},
            },
            "y": axis("difference", f"{evidence.measure}, A − B"),
            "color": {
                "field": "better",
                "type": "nominal",
                "title": "better",
                "scale": {"domain": [a, b]},
                "sort": None,
            },
            "tooltip": [*hover, {"field": "difference", "format": "+.4f"}],
        },
    }
    won, lost = sum(d.difference > 0 for d in found), sum(d.difference < 0 for d in found)
    caption = (
        f"A ({a}) minus B ({b}) in {evidence.measure}: A is better on {won}, worse on {lost} and equal on "
        f"{len(found) - won - lost} of {len(found)} topics. Bars above the line are A's gains."
    )
    columns = ("topic", "a", "b", "difference", "better")
    return Chart("differences", "Differences per topic", caption, "topics", columns, tuple(rows), spec)
