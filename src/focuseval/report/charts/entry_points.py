"""Best in context: how the score falls as a reader tolerates less distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.report.charts.chart import Chart, axis, left_out, lines_and_points, number
from focuseval.report.charts.curves import coloured

if TYPE_CHECKING:
    from focuseval.evaluation.plan import Plan
    from focuseval.report.evidence import Evidence

TOLERANCES = (0.01, 0.1, 1, 10, 100)
"""The papers' values of A."""


def wanted_distances(plan: Plan) -> tuple[str, ...]:
    """Return the measures whose means this graph needs: those of BEPD where entry points are judged."""
    asked = any(a.measure.name in {"BEPD", "EPRUM", "EPRUM-P"} for a in plan.measures)
    return tuple(f"BEPD(A={a:g})" for a in TOLERANCES) if asked or plan.task == "best-in-context" else ()


def distance_by_tolerance(evidence: Evidence) -> Chart | None:
    """Draw BEPD over A, from a reader who wants the exact place to one who does not mind."""
    rows = [
        (evidence.labels[run], a, number(seen.values[name]))
        for run, seen in zip(evidence.drawn, evidence.observed, strict=True)
        for a in TOLERANCES
        if (name := f"BEPD(A={a:g})") in seen.values
    ]
    if not rows:
        return None
    front = coloured(evidence, list(dict.fromkeys(run for run, _, _ in rows)))
    caption = (
        "Distance from the best entry point, by how much distance a reader tolerates: A = 0.01 wants the exact place, "
        f"A = 100 only the right article; 0.1 is official.{left_out(len(front), len(evidence.labels))}"
    )
    columns, pivot = ("run", "A", "BEPD"), ("A", "run", "BEPD")
    return Chart("BEPD", "Entry points by tolerance", caption, "curves", columns, tuple(rows), _spec(front), pivot)


def _spec(front: list[str]) -> dict[str, Any]:
    """Return a line with its points for every run in `front`."""
    lines, points = lines_and_points(front)
    base = {
        "x": axis("A", "A (tolerance)", scale={"type": "log"}, axis={"values": list(TOLERANCES), "format": "~g"}),
        "y": axis("BEPD", "BEPD", scale={"domain": [0, 1]}),
        "tooltip": [{"field": "run"}, {"field": "A"}, {"field": "BEPD", "format": ".4f"}],
    }
    return {
        "width": "container",
        "height": 300,
        "data": {"name": "rows"},
        "transform": [{"filter": {"field": "run", "oneOf": front}}],
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2.2}, "encoding": {**base, **lines}},
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {**base, **points},
            },
        ],
    }
