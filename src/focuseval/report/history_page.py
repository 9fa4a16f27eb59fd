"""Scores over time as one HTML file: a line per run, a graph per measure, and the table behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.report.charts.chart import Chart, axis, lines_and_points, number
from focuseval.report.evidence import MOST_LINES
from focuseval.report.history import history_table
from focuseval.report.page import STYLES, VENDOR, chart_data, environment, policy, static
from focuseval.report.texts import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.report.history import History

MOST_GRAPHS = 12
MOST_NAMES = 40
"""Files whose names fit below a graph."""


def history_charts(found: History) -> tuple[Chart, ...]:
    """Return a graph for each of the first measures; the table has them all."""
    return tuple(_chart(found, place, measure) for place, measure in enumerate(found.measures[:MOST_GRAPHS]))


def _chart(found: History, place: int, measure: str) -> Chart:
    own = [p for p in found.points if p.measure == measure and p.mean is not None]
    rows = tuple((p.file, p.run, number(p.mean)) for p in own)
    front = list(dict.fromkeys(p.run for p in reversed(own)))[:MOST_LINES]
    changed = [line.split(": ", 1)[0] for line in found.changes]
    runs = len({p.run for p in own})
    caption = f"Mean {measure} of every run, file by file." + (
        f" The {len(front)} latest of {runs} runs are drawn." if runs > len(front) else ""
    )
    if changed:
        caption += " Dashed: gold, documents or policies changed, so the two sides are not comparable."
    spec = _spec(measure, found.files, front, changed)
    return Chart(
        f"history-{place}", measure, caption, "history", ("file", "run", "mean"), rows, spec, ("file", "run", "mean")
    )


def _spec(measure: str, files: Sequence[str], front: Sequence[str], changed: Sequence[str]) -> dict[str, Any]:
    named = len(files) <= MOST_NAMES
    labels = {"labels": named, "ticks": named, "labelAngle": -40, "labelLimit": 110}
    x = {"field": "file", "type": "ordinal", "sort": None, "scale": {"domain": list(files)}, "axis": labels}
    x["title"] = "file" if named else f"{len(files)} files, in order"
    y = axis("mean", measure, scale={"zero": False})
    lines, points = lines_and_points(front)
    hover = [{"field": "file"}, {"field": "run"}, {"field": "mean", "format": ".4f"}]
    among = [{"filter": {"field": "run", "oneOf": list(front)}}]
    point = {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "transform": among}
    rules = [
        {"mark": {"type": "rule", "strokeDash": [4, 4], "color": "#888888"}, "encoding": {"x": {"datum": name}}}
        for name in changed
    ]
    return {
        "width": "container",
        "height": 260,
        "data": {"name": "rows"},
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "transform": among, "encoding": {"y": y, **lines}},
            {**point, "encoding": {"y": y, **points, "tooltip": hover}},
            *rules,
        ],
    }


def render_history(found: History, title: str = "Scores over time") -> str:
    """Return the page."""
    charts = history_charts(found)
    scripts = [static(name) for name in (*VENDOR, "dom.js", "charts.js", "main.js")]
    page: str = environment().get_template("history.html").render(
        title=title,
        found=found,
        charts=charts,
        grid=history_table(found),
        more=len(found.measures) - len(charts),
        style="\n".join(static(name) for name in STYLES),
        scripts=scripts,
        policy=policy(scripts),
        data=as_json({"charts": [chart_data(chart) for chart in charts]}),
    )  # fmt: skip
    return page
