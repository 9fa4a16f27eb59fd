"""Which topics make the difference between A and B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.report.charts.chart import Chart, axis, following, number
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
    rows = tuple(
        (d.topic, number(d.a), number(d.b), number(d.difference), a if d.difference >= 0 else b) for d in found
    )
    won, lost = sum(d.difference > 0 for d in found), sum(d.difference < 0 for d in found)
    counts = {"won": won, "lost": lost, "tied": len(found) - won - lost, "topics": len(found)}
    names = {"a": a, "b": b, "measure": evidence.measure, **{name: f"{n:,}" for name, n in counts.items()}}
    caption = (
        "A ({a}) minus B ({b}) in {measure}: A is better on {won}, worse on {lost} and equal on {tied} of {topics} "
        "topics. Bars above the line are A's gains."
    )
    columns = ("topic", "a", "b", "difference", "better")
    chart = Chart("differences", "Differences per topic", caption, "topics", columns, rows, _bars(len(rows)))
    return following(chart, names)


def _bars(topics: int) -> dict[str, object]:
    named = topics <= MOST_NAMES
    hover = [{"field": "topic"}, *({"field": f, "title": t, "format": ".4f"} for f, t in (("a", "{a}"), ("b", "{b}")))]
    return {
        "width": "container",
        "height": 260,
        "data": {"name": "rows"},
        "mark": {"type": "bar", "cursor": "pointer"},
        "encoding": {
            "x": {
                "field": "topic",
                "type": "nominal",
                "sort": None,
                "title": "topic" if named else "{topics} topics, sorted",
                "axis": {"labels": named, "ticks": named, "labelAngle": -50, "labelLimit": 90},
            },
            "y": axis("difference", "{measure}, A − B"),
            "color": {
                "field": "better",
                "type": "nominal",
                "title": "better",
                "scale": {"domain": ["{a}", "{b}"]},
                "sort": None,
            },
            "tooltip": [*hover, {"field": "difference", "format": "+.4f"}],
        },
    }
