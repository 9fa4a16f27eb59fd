"""Curves: what a measure's number summarises, one line per run, the mean over topics; and what reading costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.errors import counted
from focuseval.evaluation.plan import Plan
from focuseval.evaluation.scoring import asked_curve
from focuseval.inference.comparison import compare
from focuseval.measures import parse
from focuseval.report.charts.chart import (
    MOST_LINES,
    Chart,
    axis,
    by_run,
    hover,
    left_out,
    lines_and_points,
    names_beside,
    number,
    scales,
    wide,
)  # fmt: skip
from focuseval.report.evidence import READ, Evidence

Floats = NDArray[np.float64]

MOST_POINTS = 120  # points of a line; a longer curve is thinned, its first points kept
TOLERANCES = (0.01, 0.1, 1, 10, 100)  # the papers' values of BEPD's A
MOST_NAMED = 8  # runs that are all named in the graph of cost; of more those on the frontier, A and B
WIDE = 20  # times the cheapest run's cost from which on costs are drawn on a logarithmic scale
ON, BEHIND = "on the frontier", "behind it"
LOOKS = {ON: ("circle", "#6b6b6b"), BEHIND: ("cross", "#b0b0b0")}


class Curve(NamedTuple):
    """A measure's curve: which measures ask for it, and the words around its graph."""

    name: str
    families: str
    """Measures whose presence asks for the curve."""
    title: str
    caption: str
    x: str
    y: str
    unit: bool = True
    """Whether both axes lie between 0 and 1."""


CURVES = (
    Curve(
        "xCG", "MAep iMAep ep gr xCG xCI", "Cumulated gain",
        "Gain gathered up to a rank (xCG), and the ideal list's (xCI): a vertical cut compares gains at equal effort "
        "(nxCG), a horizontal one compares efforts for equal gain (ep).",
        "rank", "cumulated gain", unit=False,
    ),
    Curve(
        "ep", "MAep iMAep ep", "Effort-precision",
        "Ideal effort over actual effort, at 100 levels of gain-recall. Higher is better.",
        "gain-recall", "effort-precision",
    ),
    Curve(
        "nxCG", "nxCG MAnxCG", "Normalised cumulated gain",
        "Share of the ideal list's gain that is gathered up to a rank. Higher is better.",
        "rank", "nxCG", unit=False,
    ),
    Curve(
        "MAgP", "MAgP gP gR", "Generalised precision and recall",
        "Best generalised precision at or beyond each level of generalised recall. Higher is better.",
        "generalised recall (gR)", "generalised precision (gP)",
    ),
    Curve(
        "MAiP", "MAiP iP", "Interpolated precision",
        "Best share of highlighted text among the text read, at or beyond each of 101 levels of recall.",
        "recall (characters)", "precision",
    ),
    Curve(
        "i2AP", "i2AP", "inex_eval precision and recall",
        "Precision at 100 levels of recall, elements counted by their quantised relevance. Higher is better.",
        "recall", "precision",
    ),
    Curve(
        "i3AP", "i3AP", "inex_eval_ng precision and recall",
        "Precision in text at 100 levels of recall of exhaustivity. Higher is better.",
        "recall", "precision",
    ),
    Curve(
        "EPRUM", "EPRUM BEPD EPRUM-P", "EPRUM precision and recall",
        "Expected precision of a reader who browses from entry points, by recall of best entry points.",
        "recall", "expected precision",
    ),
    Curve(
        "spanR", "spanR spanP spanF IoU spanNDCG hit full spanRR", "Recall by reading",
        "Share of the highlighted text found after reading so many characters. Higher and earlier is better.",
        "characters read", "recall", unit=False,
    ),
)  # fmt: skip
"""Every curve, in the order of the page."""


def wanted(plan: Plan) -> tuple[list[str], list[str]]:
    """Return the curves that belong to the measures asked for, with their parameters, and further measures.

    The latter are those of `distance_by_tolerance`, where entry points are judged.
    """
    names: list[str] = []
    for curve in CURVES:
        asked = next((a for a in plan.measures if a.measure.name in curve.families.split()), None)
        if asked is None and curve.name == "EPRUM" and plan.task == "best-in-context":
            asked = parse("EPRUM")
        if asked is None:
            continue
        own = {p.name for p in asked_curve(curve.name)[0].measure.parameters}
        given = ", ".join(f"{name}={value}" for name, value in asked.given.items() if name in own)
        names.append(f"{curve.name}({given})" if given else curve.name)
        if curve.name == "xCG":
            names.append(names[-1].replace("xCG", "xCI"))
    entered = any(name.startswith("EPRUM") for name in names)
    return names, [f"BEPD(A={a:g})" for a in TOLERANCES] if entered else []


def curve_charts(evidence: Evidence) -> Iterator[Chart]:
    """Draw every curve that was observed, one line per run; the best few in colour, the others grey behind them."""
    observed = list(dict.fromkeys(name for seen in evidence.observed for name in seen.curves))
    named = {name.split("(")[0]: name for name in reversed(observed)}
    decides = evidence.asked[evidence.scores.deciding].measure.name
    for curve in sorted(CURVES, key=lambda curve: decides not in curve.families.split()):
        if curve.name not in named:
            continue
        name = named[curve.name]
        lines = [
            (evidence.labels[run], *seen.curves[name])
            for run, seen in zip(evidence.drawn, evidence.observed, strict=True)
            if name in seen.curves
        ]
        front = coloured(evidence, [label for label, _, _ in lines])
        if curve.name == "xCG" and "xCI" in named:
            ideal = [seen.curves[named["xCI"]] for seen in evidence.observed if named["xCI"] in seen.curves]
            lines.append(("ideal (xCI)", *max(ideal, key=lambda points: len(points[0]))))
            front = [*front[: MOST_LINES - 1], "ideal (xCI)"]
        grey = len(lines) - len(front)
        caption = (
            f"{curve.caption} Curve of {name}, mean over topics."
            + (f" Grey: {counted(grey, 'further run')}." if grey else "")
            + left_out(len(evidence.drawn), len(evidence.labels))
        )
        rows = []
        for run, *points in lines:
            steps = np.arange(len(points[0]))
            if len(steps) > MOST_POINTS:  # every one at first, later ones ever further apart
                steps = np.unique(np.geomspace(1, len(steps), MOST_POINTS).round().astype(int)) - 1
            rows += [(run, *map(number, point)) for point in zip(*(line[steps] for line in points), strict=True)]
        scale = {"scale": {"domain": [0, 1]}} if curve.unit else {}
        places = {"x": axis("x", curve.x, **scale), "y": axis("y", curve.y, **scale)}
        shown = [{"field": "run"}, {"field": "x", "title": curve.x}, {"field": "y", "title": curve.y, "format": ".4f"}]
        among = {"field": "run", "oneOf": front}
        behind = {
            "transform": [{"filter": {"not": among}}],
            "mark": {"type": "line", "color": "#8a8a8a", "opacity": 0.45, "strokeWidth": 1},
            "encoding": {**places, "detail": {"field": "run"}},
        }
        before = {
            "transform": [{"filter": among}],
            "mark": {"type": "line", "strokeWidth": 2.2, "interpolate": "linear"},
            "encoding": {**places, **by_run(front), "tooltip": shown},
        }
        columns, pivot, spec = ("run", "x", "y"), ("x", "run", "y"), wide(300, layer=[behind, before])
        yield Chart(curve.name, curve.title, caption, "curves", columns, tuple(rows), spec, pivot, curve.x)


def coloured(evidence: Evidence, labels: Sequence[str]) -> list[str]:
    """Return the runs that get a colour, A and B first, then the best."""
    pair = [evidence.labels[run] for run in evidence.pair or ()]
    return [label for label in dict.fromkeys([*pair, *labels]) if label in labels][:MOST_LINES]


def distance_by_tolerance(evidence: Evidence) -> Iterator[Chart]:
    """Draw BEPD over A, from a reader who wants the exact place to one who does not mind."""
    rows = [
        (evidence.labels[run], a, number(seen.values[name]))
        for run, seen in zip(evidence.drawn, evidence.observed, strict=True)
        for a in TOLERANCES
        if (name := f"BEPD(A={a:g})") in seen.values
    ]
    if not rows:
        return
    front = coloured(evidence, list(dict.fromkeys(run for run, _, _ in rows)))
    caption = (
        "Distance from the best entry point, by how much distance a reader tolerates: A = 0.01 wants the exact place, "
        f"A = 100 only the right article; 0.1 is official.{left_out(len(front), len(evidence.labels))}"
    )
    lines, points = lines_and_points(front)
    base = {
        "x": axis("A", "A (tolerance)", scale={"type": "log"}, axis={"values": list(TOLERANCES), "format": "~g"}),
        "y": axis("BEPD", "BEPD", scale={"domain": [0, 1]}),
        "tooltip": hover(run="", A="", BEPD=".4f"),
    }
    layer = [
        {"mark": {"type": "line", "strokeWidth": 2.2}, "encoding": {**base, **lines}},
        {"mark": {"type": "point", "filled": True, "size": 70, "opacity": 1}, "encoding": {**base, **points}},
    ]
    spec = wide(300, transform=[{"filter": {"field": "run", "oneOf": front}}], layer=layer)
    columns, pivot = ("run", "A", "BEPD"), ("A", "run", "BEPD")
    yield Chart("BEPD", "Entry points by tolerance", caption, "curves", columns, tuple(rows), spec, pivot)


def cost_and_quality(evidence: Evidence) -> Iterator[Chart]:
    """Draw every run at its characters and its recall; mark those that no other run measurably beats, joined by steps.

    Costs that differ widely are drawn on a log scale, others from 0 on, so that a small difference looks small.
    """
    seen = [(run, o.reading) for run, o in zip(evidence.drawn, evidence.observed, strict=True) if o.reading is not None]
    if len(seen) < 2:
        return
    labels, topics = tuple(evidence.labels[run] for run, _ in seen), evidence.scores.topics
    both = np.stack([reading for _, reading in seen], axis=1)
    cost, recall = np.nanmean(both, axis=2)
    holds = np.zeros((len(seen), len(seen)), np.bool_)
    for values in (-both[0], both[1]):
        if len(topics) > 1 and not np.isnan(values).any():
            holds |= compare("", labels, topics, values, evidence.settings, **evidence.clustering).stars()
    best = on_frontier(cost, recall, holds)
    rows = tuple(
        (labels[n], round(float(cost[n]), 1), number(recall[n]), ON if best[n] else BEHIND)
        for n in np.argsort(cost, kind="stable").tolist()
    )
    pair = {evidence.labels[run] for run in evidence.pair or ()}
    named = [
        (labels[n], float(cost[n]), float(recall[n]))
        for n in np.argsort(-recall, kind="stable").tolist()
        if np.isfinite(cost[n] + recall[n]) and (len(seen) <= MOST_NAMED or labels[n] in pair or best[n])
    ]
    caption = (
        f"Each point is a run: the mean number of characters in its first {READ} results, each once, against the mean "
        "share of the highlighted text in them. A run is behind the frontier where another one costs no more, finds at "
        "least as much, and one of the two differences is significant."
        f"{left_out(len(seen), len(evidence.labels))}"
    )
    costs = [row[1] for row in rows]
    logarithmic = costs[0] > 0 and costs[-1] / costs[0] > WIDE
    scale = {"type": "log"} if logarithmic else {"zero": True}
    ticks = {"axis": {"values": [d * 10**n for n in range(10) for d in (1, 3)]}} if logarithmic else {}
    title = f"mean characters of the first {READ} results" + (" (log scale)" if logarithmic else "")
    columns = ("run", "characters", "recall", "frontier")
    shapes, colours = scales(LOOKS, [row[3] for row in rows])
    by = {"field": "frontier", "type": "nominal", "title": "run"}
    frontier = {
        "transform": [{"filter": f"datum.frontier === '{ON}'"}],
        "mark": {"type": "line", "color": "#6b6b6b", "strokeDash": [4, 3], "interpolate": "step-after"},
        "encoding": {"order": {"field": "characters"}},
    }
    every = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
        "encoding": {
            "shape": {**by, "scale": shapes},
            "color": {**by, "scale": colours},
            "tooltip": hover(run="", characters=",.0f", recall=".4f", frontier=""),
        },
    }
    spec = wide(
        320,
        encoding={
            "x": axis("characters", title, scale={**scale, "nice": True}, **ticks),
            "y": axis("recall", f"spanR@{READ}", scale={"zero": True}),
        },
        layer=[
            frontier,
            every,
            *names_beside(named, columns[:3], float(np.nanmax(recall)), logarithmic=logarithmic, dy=12),
        ],
    )
    yield Chart("cost", "Cost against quality", caption, "curves", columns, rows, spec)


def on_frontier(cost: Floats, quality: Floats, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which points no other beats: none costs no more and is as good, with a difference that holds.

    `holds`: whether the row's point is significantly cheaper or better than the column's.

    >>> every, none = np.ones((4, 4), bool), np.zeros((4, 4), bool)
    >>> points = np.array([100.0, 200.0, 200.0, 300.0]), np.array([0.5, 0.4, 0.6, 0.6])
    >>> on_frontier(*points, every).tolist(), on_frontier(*points, none).tolist()
    ([True, False, True, False], [True, True, True, True])
    """
    as_good = (cost[:, None] <= cost) & (quality[:, None] >= quality)
    better = as_good & holds & ((cost[:, None] < cost) | (quality[:, None] > quality))
    return np.asarray(~better.any(axis=0))
