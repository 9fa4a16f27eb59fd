"""Every graph is a pure function from the evidence to a Vega-Lite specification with its rows, or to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.report.charts.agreement import significance_stars, tau_heat_map
from focuseval.report.charts.chart import Chart
from focuseval.report.charts.cost import cost_and_quality
from focuseval.report.charts.curves import (
    cumulated_gain,
    effort_precision,
    entry_point_precision,
    generalised_precision,
    graded_precision_recall,
    interpolated_precision,
    normalised_gain,
    precision_recall,
    recall_by_reading,
)
from focuseval.report.charts.entry_points import distance_by_tolerance
from focuseval.report.charts.fidelity import fidelity_grid
from focuseval.report.charts.means import means_with_intervals, values_per_run
from focuseval.report.charts.topics import differences_per_topic

if TYPE_CHECKING:
    from focuseval.report.evidence import Evidence

__all__ = ["CHARTS", "Chart", "charts"]

CHARTS = (
    means_with_intervals,
    differences_per_topic,
    values_per_run,
    cumulated_gain,
    effort_precision,
    normalised_gain,
    generalised_precision,
    interpolated_precision,
    precision_recall,
    graded_precision_recall,
    entry_point_precision,
    distance_by_tolerance,
    recall_by_reading,
    cost_and_quality,
    significance_stars,
    tau_heat_map,
    fidelity_grid,
)
"""Every graph, in the order of the page."""


def charts(evidence: Evidence) -> tuple[Chart, ...]:
    """Return the graphs whose data exist."""
    made = (draw(evidence) for draw in CHARTS)
    return tuple(chart for chart in made if chart is not None)
