"""One document of one topic as a heat map: what was highlighted, what a run returned, and at which rank."""

from __future__ import annotations

from focuseval.report.heat.map import HeatMap, heat_map
from focuseval.report.heat.segments import HeatSegments, segments

__all__ = ["HeatMap", "HeatSegments", "heat_map", "segments"]
