"""A graph: a Vega-Lite specification, the rows it draws, and the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import log
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#1b1b1b", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, which people with every kind of colour vision tell apart; yellow is too faint on paper."""

MOST_LINES = len(PALETTE)  # runs that get a colour and a dash of their own; the others are grey
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""Every colour comes with a dash and a shape of its own."""

WIDTHS = {"column": 320, "page": 660}
"""Pixels of a figure: 85 mm and 175 mm, a column and the width of a page of two columns."""
DIGITS = 5
LINE, WIDTH = 0.045, 0.3  # height and width of a name beside its point, as shares of the plot's
LONG = 24  # characters of a name from which on what all names share is left out of labels
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Chart:
    """One graph, ready for a page, a file or a table."""

    id: str
    title: str
    caption: str
    """What is drawn, how to read it, and what was left out."""
    section: str  # ``answer``, ``topics``, ``curves``, ``agreement`` or ``fidelity``
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    spec: dict[str, Any]
    """Vega-Lite over the data set ``rows``."""
    pivot: tuple[str, str, str] | None = None
    """Columns that become rows, columns and cells of the table behind the graph."""
    head: str = ""  # name of the first column of that table, where the column's own is too short
    by: str = ""  # column whose every value gets a table of its own
    form: dict[str, Any] | None = None
    """Of a graph that follows the chosen pair and measure, ``spec`` and ``caption`` with names such as ``{measure}`` in
    them, the ``names`` of this report, and the ``runs`` that are drawn; the page fills them and makes the rows."""

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as Vega-Lite wants them."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def complete(self, width: int = WIDTHS["page"], *, serif: bool = False) -> dict[str, Any]:
        """Return a specification that needs nothing else: rows, colours, and a width in pixels (96 to the inch)."""
        values, fixed = {"name": "rows", "values": self.records()}, dict[str, Any]()
        if self.spec.get("width") == "container":
            fixed = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
        columns = {"columns": 1 if width < WIDTHS["page"] / 2 else 3}
        config = CONFIG | {"font": "Times New Roman, Times, serif"} if serif else CONFIG
        config = config | {"legend": CONFIG["legend"] | columns}
        return {"$schema": SCHEMA, **self.spec, **fixed, "data": values, "config": config}


CONFIG: dict[str, Any] = {
    "font": "system-ui, sans-serif",
    "background": "white",
    "range": {"category": list(PALETTE)},
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "gridOpacity": 0.6},
    "legend": {"orient": "bottom", "columns": 3, "labelLimit": 260, "symbolStrokeWidth": 2.5, "symbolSize": 160},
    "view": {"stroke": None},
}
"""Looks of a figure outside of the page; on the page the theme decides."""


def filled(form: Any, names: Mapping[str, str]) -> Any:
    """Put names into the strings of a specification; what a name says is not looked at again.

    >>> filled({"title": "mean {measure}", "scale": {"domain": ["{a}", 1]}}, {"measure": "AP", "a": "{b}", "b": "x"})
    {'title': 'mean AP', 'scale': {'domain': ['{b}', 1]}}
    """
    if isinstance(form, str):
        return _NAME.sub(lambda found: names.get(found[1], found[0]), form)
    if isinstance(form, dict):
        return {key: filled(value, names) for key, value in form.items()}
    return [filled(value, names) for value in form] if isinstance(form, list) else form


def following(chart: Chart, names: Mapping[str, str], runs: Sequence[str] = ()) -> Chart:
    """Return a graph with its names filled in, which keeps the form that a page fills for another choice."""
    form = {"spec": chart.spec, "caption": chart.caption, "names": dict(names), "runs": list(runs)}
    return replace(chart, spec=filled(chart.spec, names), caption=filled(chart.caption, names), form=form)


def number(value: float | None) -> float | None:
    """Round a value for drawing; what is not a number is nothing.

    >>> number(1 / 3), number(float("nan"))
    (0.33333, None)
    """
    if value is None or value != value:  # noqa: PLR0124  NaN, without importing NumPy
        return None
    return round(float(value), DIGITS)


def by_run(names: Sequence[str]) -> dict[str, Any]:
    """Return colour and dash encodings for a few runs, in their order; the legend shows both."""
    run = nominal("run", "run", legend={"labelExpr": short_label(names)})
    dashes = {"domain": list(names), "range": [list(dash) for dash in DASHES[: len(names)]]}
    return {"color": {**run, "scale": {"domain": list(names)}}, "strokeDash": {**run, "scale": dashes}}


def lines_and_points(names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the encodings of lines and of the points on them, a shape for every run; the legend shows the points."""
    color, dash = by_run(names).values()
    legend = {**color["legend"], "symbolStrokeWidth": 0}  # a dashed outline would hide the shape
    shape = {**color, "scale": {"domain": list(names), "range": list(SHAPES[: len(names)])}, "legend": legend}
    return {"color": color, "strokeDash": {**dash, "legend": legend}}, {"color": color, "shape": shape}


def short_label(names: Sequence[str]) -> str:
    """Return Vega's expression for a name without what long names begin and end with alike, up to a separator.

    >>> short_label(["acme-prod-2026-bm25-en-chunks.v1", "acme-prod-2026-dense-en-chunks.v1"])
    'slice(datum.label, 15, length(datum.label) - 13)'
    >>> short_label(["bm25", "bm25-tuned"])
    'datum.label'
    """
    if len(names) < 2 or max(map(len, names)) <= LONG:
        return "datum.label"
    ends = []
    for own in (list(names), [name[::-1] for name in names]):
        same = [letters[0] for letters in takewhile(lambda some: len(set(some)) == 1, zip(*own, strict=False))]
        ends.append(max((at + 1 for at, letter in enumerate(same) if letter in "-_./: "), default=0))
    if not any(ends) or any(len(name) <= sum(ends) for name in names):
        return "datum.label"
    return f"slice(datum.label, {ends[0]}, length(datum.label) - {ends[1]})"


def scales(looks: Mapping[str, tuple[str, ...]], drawn: Iterable[str]) -> tuple[dict[str, Any], ...]:
    """Return the scales of colours, shapes … that kinds have, without kinds that are not drawn.

    >>> scales({"on": ("black", "circle"), "off": ("grey", "cross")}, ["off", "off"])
    ({'domain': ['off'], 'range': ['grey']}, {'domain': ['off'], 'range': ['cross']})
    """
    kept = [kind for kind in looks if kind in set(drawn)]
    return tuple({"domain": kept, "range": list(own)} for own in zip(*(looks[kind] for kind in kept), strict=True))


def axis(field: str, title: str, **others: Any) -> dict[str, Any]:
    """Return a quantitative position."""
    return {"field": field, "type": "quantitative", "title": title, **others}


def nominal(field: str, title: str | None = None, **others: Any) -> dict[str, Any]:
    """Return a position by names, in the order of the rows."""
    return {"field": field, "type": "nominal", "sort": None, "title": title, **others}


def hover(**formats: str) -> list[dict[str, Any]]:
    """Return what is shown of a point: fields with their formats; words have none.

    >>> hover(run="", mean=".4f")
    [{'field': 'run'}, {'field': 'mean', 'format': '.4f'}]
    """
    return [{"field": name} | ({"format": form} if form else {}) for name, form in formats.items()]


def wide(height: int, **others: Any) -> dict[str, Any]:
    """Return a specification over the chart's rows that is as wide as its place."""
    return {"width": "container", "height": height, "data": {"name": "rows"}, **others}


def names_beside(
    points: Sequence[tuple[str, float, float]], fields: tuple[str, str, str], height: float, *, logarithmic: bool,
    dy: int = 0,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return layers that write names beside their points, towards the middle.

    A name stands lower where it would hide one before it, or a point. `fields` are those of name, x and y; x is drawn
    from 0 on, or on a log scale; `height` is what the plot is high. `dy` are the pixels between a name and a line that
    rises through the points: below it on the left, above it on the right.

    >>> points = [("a", 100, 0.5), ("b", 101, 0.5), ("c", 900, 0.5)]
    >>> layers = names_beside(points, ("run", "x", "y"), 1, logarithmic=True)
    >>> [(layer["mark"]["align"], [row["y"] for row in layer["data"]["values"]]) for layer in layers]
    [('left', [0.455, 0.41]), ('right', [0.5])]
    """
    at = [log(max(x, 1)) if logarithmic else x for _, x, _ in points]
    first = min(at, default=0.0) if logarithmic else 0.0
    spots = [((x - first) / ((max(at) - first) or 1), y) for x, (_, _, y) in zip(at, points, strict=True)]
    rows: dict[str, list[dict[str, Any]]] = {"left": [], "right": []}
    placed: list[tuple[float, float]] = []
    for (name, x, _), (share, stands) in zip(points, spots, strict=True):
        align, side = ("left", 1) if share <= 0.5 else ("right", -1)
        taken = [own for other, own in placed if abs(other - share) <= WIDTH]
        taken += [own for other, own in spots if 0 < (other - share) * side <= WIDTH]
        for own in sorted(taken, reverse=True):
            stands = own - LINE * height if abs(own - stands) < LINE * height else stands  # noqa: PLW2901
        placed.append((share, stands))
        rows[align].append(dict(zip(fields, (name, x, round(stands, DIGITS)), strict=True)))
    mark = {"type": "text", "fontSize": 11, "limit": 190}
    return [
        {
            "data": {"values": own},
            "mark": {**mark, "align": align, "dx": 10 if align == "left" else -10}
            | ({"dy": dy if align == "left" else -dy} if dy else {}),
            "encoding": {"text": {"field": fields[0]}},
        }
        for align, own in rows.items()
        if own
    ]


def left_out(shown: int, all_: int, what: str = "runs") -> str:
    """Say how many are not drawn, or nothing.

    >>> left_out(40, 200)
    ' 40 of 200 runs are drawn, the best first.'
    """
    return "" if shown >= all_ else f" {shown} of {all_:,} {what} are drawn, the best first."
