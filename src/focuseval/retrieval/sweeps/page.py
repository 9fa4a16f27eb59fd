"""A sweep as a report: the runs of all chunkings side by side, and a graph of quality against cost."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any

from focuseval.inference.intervals import bca
from focuseval.report.build import evidence_on, report_on
from focuseval.report.charts.chart import DIGITS, SHAPES, Chart, axis, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.report.build import Report
    from focuseval.retrieval.sweeps.result import Sweep

LINE, WIDTH = 0.04, 0.3
"""Height and width of a name, as shares of the plot's."""

WORDS = ("cannot tell", "worse", "best")
"""What has the first, second and third of the report's colours and shapes."""


def report_on_sweep(found: Sweep, title: str = "") -> Report:
    """Return the report, with the graph of cost first among its graphs."""
    evidence = evidence_on(found.evaluation, found.settings)
    report = report_on(evidence, title=title or f"{found.measure}: {len(found.names)} chunkings")
    cut = (said for chunks in found.chunks for said in chunks.remarks)
    remarks = (found.sentence(), *found.noticed, *cut, *report.remarks)
    return replace(report, charts=(quality_against_cost(found), *report.charts), remarks=remarks)


def quality_against_cost(found: Sweep) -> Chart:
    """Draw every chunking's mean with its 95 % interval over its number of chunks; the size is that of their text."""
    unit = "characters" if found.extents[0].tokens is None else "tokens"
    low, high = bca(found.comparison.values, resamples=found.settings.of_interval, seed=found.settings.seed)
    rows: list[tuple[Any, ...]] = []
    for place, run in enumerate(found.order):
        text, stands = found.extents[run], found.standings[run].word.partition(":")[0]
        numbers = (number(float(value)) for value in (found.comparison.means[place], low[place], high[place]))
        size = text.characters if text.tokens is None else text.tokens
        rows.append((found.names[run], text.chunks, size, *numbers, stands))
    caption = (
        f"Mean {found.measure} of every chunking with its 95 % interval, over the number of its chunks, all of which "
        f"have to be stored. The larger a point, the more {unit} have to be embedded. Up and to the left is better. "
        f"Colours and shapes say whether a chunking is worse than the best ({found.comparison.method})."
    )
    columns = ("chunking", "chunks", unit, "mean", "low", "high", "against the best")
    spec = _spec(found.measure, columns, labels([(name, chunks, mean) for name, chunks, _, mean, *_ in rows]))
    return Chart("chunking-cost", "Quality against cost of indexing", caption, "curves", columns, tuple(rows), spec)


def labels(points: Sequence[tuple[str, int, float]]) -> list[dict[str, Any]]:
    """Return where names stand: each beside its point, best first, moved down where it would hide another.

    >>> [row["mean"] for row in labels([("a", 100, 0.5), ("b", 101, 0.5), ("c", 900, 0.5), ("d", 90, 0.0)])]
    [0.5, 0.48, 0.5, 0.0]
    """
    heights = [mean for _, _, mean in points]
    line = LINE * (max(heights) - min(heights))
    wide = WIDTH * (log(max(chunks for _, chunks, _ in points)) - log(min(chunks for _, chunks, _ in points)))
    placed: list[tuple[float, float]] = []
    found = []
    for name, chunks, mean in points:
        at, height = log(max(chunks, 1)), mean
        near = sorted((y for x, y in placed if abs(x - at) <= wide), reverse=True)
        for y in near:
            if abs(y - height) < line:
                height = y - line
        placed.append((at, height))
        found.append({"chunking": name, "chunks": chunks, "mean": round(height, DIGITS)})
    return found


def _spec(measure: str, columns: tuple[str, ...], names: list[dict[str, Any]]) -> dict[str, Any]:
    """Return points with intervals and names."""
    stands = {"field": columns[-1], "type": "nominal"}
    words = {"domain": list(WORDS)}
    color, shape = stands | {"scale": words}, stands | {"scale": words | {"range": list(SHAPES[:3])}}
    size = {"field": columns[2], "type": "quantitative", "scale": {"range": [40, 260]}, "legend": None}
    x = axis("chunks", "chunks", scale={"type": "log", "nice": False, "padding": 30}, axis={"format": "~s"})
    title = f"mean {measure}"
    mean = axis("mean", title, scale={"zero": False})
    interval = {"y": axis("low", title, scale={"zero": False}), "y2": {"field": "high"}}
    drawn = {"color": color, "tooltip": [{"field": name} for name in columns]}
    return {
        "width": "container",
        "height": 380,
        "data": {"name": "rows"},
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "rule", "strokeOpacity": 0.6}, "encoding": drawn | interval},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": drawn | {"y": mean, "shape": shape, "size": size},
            },
            {
                "data": {"values": names},
                "mark": {"type": "text", "align": "left", "dx": 10, "limit": 190},
                "encoding": {"y": mean, "text": {"field": "chunking"}},
            },
        ],
    }
