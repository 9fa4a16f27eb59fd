"""Fidelity: the means of simulated runs whose order is known, one grid per measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.report.charts.chart import Chart, number
from focuseval.studies.space_runs import RANKINGS, SELECTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.report.evidence import Evidence


def fidelity_grid(evidence: Evidence) -> Chart | None:
    """Draw the S×R space under every measure that was tested."""
    if evidence.fidelity is None:
        return None
    test = evidence.fidelity.space
    rows = tuple(
        (measure, s, r, number(test.mean(measure)[f"{s}-{r}"]))
        for measure in test.measures
        for s in SELECTIONS
        for r in RANKINGS
    )
    kept = "; ".join(f"{m} keeps {k} of {n} expected orders" for m in test.measures for k, n in (test.verdict(m),))
    caption = (
        "Means of runs simulated from the gold: worse parts downwards (S to S_LD, S_ST), worse order to the right "
        f"(R_S swaps the first two articles, R_I puts an intruder on top). {kept}."
    )
    columns, spec = ("measure", "S", "R", "mean"), _grids(test.measures)
    return Chart(
        "fidelity", "Fidelity of measures", caption, "fidelity", columns, rows, spec, ("S", "R", "mean"), by="measure"
    )


def _grids(measures: Sequence[str]) -> dict[str, Any]:
    """Return a grid for every measure."""
    return {
        "data": {"name": "rows"},
        "facet": {"field": "measure", "type": "nominal", "sort": list(measures), "title": None},
        "columns": 2,
        "usermeta": {"facet": 56 * len(RANKINGS) + 90},
        "spec": _grid(),
    }


def _grid() -> dict[str, Any]:
    """Return a cell for every pair of S and R, shaded and labelled by its mean."""
    place = {"type": "nominal", "sort": None}
    scale = {"domain": [0, 1], "range": ["#e8f1f8", "#005a8c"]}
    shade = {"field": "mean", "type": "quantitative", "scale": scale, "title": "mean", "legend": None}
    dark = {"condition": {"test": "datum.mean > 0.75", "value": "white"}, "value": "black"}
    return {
        "width": {"step": 56},
        "height": {"step": 28},
        "encoding": {
            "x": {"field": "R", **place, "title": "order of articles (R)", "axis": {"labelAngle": 0}},
            "y": {"field": "S", **place, "title": "parts of articles (S)"},
        },
        "layer": [
            {"mark": "rect", "encoding": {"color": shade}},
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {"text": {"field": "mean", "format": ".3f"}, "color": dark},
            },
        ],
    }
