"""Curves: what a measure's number summarises, one line per run, the mean over topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.measures.measure import parse
from focuseval.report.charts.chart import Chart, axis, by_run, left_out, number
from focuseval.report.evidence import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.evaluation.plan import Plan
    from focuseval.report.evidence import Evidence

MOST_POINTS = 120
"""Points of a line; a longer curve is thinned, its first points kept."""

FAMILIES = {
    "xCG": ("MAep", "iMAep", "ep", "gr", "xCG", "xCI"),
    "ep": ("MAep", "iMAep", "ep"),
    "nxCG": ("nxCG", "MAnxCG"),
    "MAgP": ("MAgP", "gP", "gR"),
    "MAiP": ("MAiP", "iP"),
    "i2AP": ("i2AP",),
    "i3AP": ("i3AP",),
    "EPRUM": ("EPRUM", "BEPD", "EPRUM-P"),
    "spanR": ("spanR", "spanP", "spanF", "IoU", "spanNDCG", "hit", "full", "spanRR"),
}
"""Curve → measures whose presence asks for it."""


def wanted(plan: Plan) -> tuple[str, ...]:
    """Return the names of the curves that belong to the measures asked for, with their parameters."""
    names: list[str] = []
    for curve, family in FAMILIES.items():
        asked = next((a for a in plan.measures if a.measure.name in family), None)
        if asked is None and curve == "EPRUM" and plan.task == "best-in-context":
            asked = parse("EPRUM")
        if asked is None:
            continue
        own = {p.name for p in parse(_bare(curve)).measure.parameters}
        given = ", ".join(f"{name}={value}" for name, value in asked.given.items() if name in own)
        names.append(f"{curve}({given})" if given else curve)
        if curve == "xCG":
            names.append(names[-1].replace("xCG", "xCI"))
    return tuple(names)


def _bare(curve: str) -> str:
    return {"xCG": "xCG@1", "ep": "ep@0", "nxCG": "nxCG@1"}.get(curve, curve)


def cumulated_gain(evidence: Evidence) -> Chart | None:
    """Draw the gain that a reader gathers by rank, and what the ideal list would give: xCG against xCI."""
    caption = (
        "Gain gathered up to a rank (xCG), and the ideal list's (xCI): a vertical cut compares gains at equal effort "
        "(nxCG), a horizontal one compares efforts for equal gain (ep)."
    )
    extra: Sequence[tuple[str, Any, Any]] = ()
    found = _named(evidence, "xCI")
    if found:
        longest = max(
            (o.curves[found] for o in evidence.observed if found in o.curves), key=lambda points: len(points[0])
        )
        extra = (("ideal (xCI)", *longest),)
    return _lines(evidence, "xCG", "Cumulated gain", caption, ("rank", "cumulated gain"), extra=extra)


def effort_precision(evidence: Evidence) -> Chart | None:
    """Draw effort-precision at 100 levels of gain-recall."""
    caption = "Ideal effort over actual effort, at 100 levels of gain-recall. Higher is better."
    return _lines(evidence, "ep", "Effort-precision", caption, ("gain-recall", "effort-precision"), unit=True)


def normalised_gain(evidence: Evidence) -> Chart | None:
    """Draw nxCG by rank."""
    caption = "Share of the ideal list's gain that is gathered up to a rank. Higher is better."
    return _lines(evidence, "nxCG", "Normalised cumulated gain", caption, ("rank", "nxCG"))


def generalised_precision(evidence: Evidence) -> Chart | None:
    """Draw generalised precision against generalised recall."""
    caption = "Best generalised precision at or beyond each level of generalised recall. Higher is better."
    words = ("generalised recall (gR)", "generalised precision (gP)")
    return _lines(evidence, "MAgP", "Generalised precision and recall", caption, words, unit=True)


def interpolated_precision(evidence: Evidence) -> Chart | None:
    """Draw interpolated precision at 101 levels of recall."""
    caption = "Best share of highlighted text among the text read, at or beyond each of 101 levels of recall."
    return _lines(evidence, "MAiP", "Interpolated precision", caption, ("recall (characters)", "precision"), unit=True)


def precision_recall(evidence: Evidence) -> Chart | None:
    """Draw inex_eval's precision by recall (i2)."""
    caption = "Precision at 100 levels of recall, elements counted by their quantised relevance. Higher is better."
    return _lines(evidence, "i2AP", "inex_eval precision and recall", caption, ("recall", "precision"), unit=True)


def graded_precision_recall(evidence: Evidence) -> Chart | None:
    """Draw inex_eval_ng's precision by recall (i3)."""
    caption = "Precision in text at 100 levels of recall of exhaustivity. Higher is better."
    return _lines(evidence, "i3AP", "inex_eval_ng precision and recall", caption, ("recall", "precision"), unit=True)


def entry_point_precision(evidence: Evidence) -> Chart | None:
    """Draw EPRUM's precision by recall."""
    caption = "Expected precision of a reader who browses from entry points, by recall of best entry points."
    return _lines(evidence, "EPRUM", "EPRUM precision and recall", caption, ("recall", "expected precision"), unit=True)


def recall_by_reading(evidence: Evidence) -> Chart | None:
    """Draw recall against the characters read."""
    caption = "Share of the highlighted text found after reading so many characters. Higher and earlier is better."
    return _lines(evidence, "spanR", "Recall by reading", caption, ("characters read", "recall"))


def _named(evidence: Evidence, curve: str) -> str | None:
    """Return the curve's name as it was observed, with its parameters."""
    names = (name for seen in evidence.observed for name in seen.curves)
    return next((name for name in names if name.split("(")[0] == curve), None)


def _lines(
    evidence: Evidence,
    curve: str,
    title: str,
    caption: str,
    words: tuple[str, str],
    *,
    unit: bool = False,
    extra: Sequence[tuple[str, Any, Any]] = (),
) -> Chart | None:
    """Draw one line per run; the best few in colour, the others grey behind them."""
    name = _named(evidence, curve)
    if name is None:
        return None
    lines = [
        (evidence.labels[run], *seen.curves[name])
        for run, seen in zip(evidence.drawn, evidence.observed, strict=True)
        if name in seen.curves
    ]
    front = coloured(evidence, [label for label, _, _ in lines])
    front = [*front[: MOST_LINES - len(extra)], *(label for label, _, _ in extra)]
    rows = [(run, *point) for run, x, y in (*lines, *extra) for point in zip(*thinned(x, y), strict=True)]
    parameters = f" Curve of {name}, mean over topics."
    grey = (
        f" Grey: {len(lines) + len(extra) - len(front)} further runs." if len(lines) + len(extra) > len(front) else ""
    )
    said = caption + parameters + grey + left_out(len(evidence.drawn), len(evidence.labels))
    spec = line_spec(words, front, unit=unit)
    return Chart(curve, title, said, "curves", ("run", "x", "y"), tuple(rows), spec, ("x", "run", "y"), words[0])


def coloured(evidence: Evidence, labels: Sequence[str]) -> list[str]:
    """Return the runs that get a colour, A and B first, then the best."""
    pair = [evidence.labels[run] for run in evidence.pair or ()]
    return [label for label in dict.fromkeys([*pair, *labels]) if label in labels][:MOST_LINES]


def thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[list[float | None], list[float | None]]:
    """Return at most `MOST_POINTS` points: every one at first, later ones ever further apart."""
    if len(x) > MOST_POINTS:
        steps = np.unique(np.geomspace(1, len(x), MOST_POINTS).round().astype(int)) - 1
        x, y = x[steps], y[steps]
    return [number(v) for v in x.tolist()], [number(v) for v in y.tolist()]


def line_spec(words: tuple[str, str], front: Sequence[str], *, unit: bool) -> dict[str, Any]:
    """Return the specification of lines; `unit` puts both axes between 0 and 1."""
    scale = {"scale": {"domain": [0, 1]}} if unit else {}
    x, y = axis("x", words[0], **scale), axis("y", words[1], **scale)
    hover = [{"field": "run"}, {"field": "x", "title": words[0]}, {"field": "y", "title": words[1], "format": ".4f"}]
    among = {"field": "run", "oneOf": list(front)}
    return {
        "width": "container",
        "height": 300,
        "data": {"name": "rows"},
        "layer": [
            {
                "transform": [{"filter": {"not": among}}],
                "mark": {"type": "line", "color": "#8a8a8a", "opacity": 0.45, "strokeWidth": 1},
                "encoding": {"x": x, "y": y, "detail": {"field": "run"}},
            },
            {
                "transform": [{"filter": among}],
                "mark": {"type": "line", "strokeWidth": 2.2, "interpolate": "linear"},
                "encoding": {"x": x, "y": y, **by_run(front), "tooltip": hover},
            },
        ],
    }
