"""Runs side by side: means, the topics behind them, where A and B differ, who is better; do measures agree on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from focuseval.inference.correlation import FEW_RUNS, correlate, reading, tau_interval
from focuseval.inference.paired import wins_sentence
from focuseval.report.charts.chart import (
    Chart,
    axis,
    following,
    hover,
    left_out,
    nominal,
    number,
    scales,
    short_label,
    wide,
)  # fmt: skip
from focuseval.report.evidence import KINDS, MOST_DRAWN, Evidence
from focuseval.report.first_screen import by_topic

MOST_FIRST = 20  # runs that the first screen has room for
MOST_POINTS = 60  # topics whose values are drawn as points; more are drawn as a distribution
MOST_NAMES = 40  # topics whose names fit below the bars

MOST_CORRELATED = 14
TAU = "datum.tau === null ? '–' : replace(format(datum.tau, '.2f'), '0.', '.')"  # a τ as it fits into a small cell: .83
READINGS = {
    "equivalent": ("#0072B2",),
    "similar": ("#56B4E9",),
    "noticeable differences": ("#E69F00",),
    FEW_RUNS: ("#CCCCCC",),
    "undefined": ("#999999",),
}
"""How a τ is read, with its colour."""
MARKS = {"itself": "·", "better": "★", "no": ""}

INK = "#808080"
"""Of letters beside a mark: to be read in the light and in the dark."""
BY = {"people alone": INK, "model alone": "#CC79A7", "estimate from both": "#009E73"}
"""Whose judgements a mean of the chart of estimates rests on, with its colour."""


def by_name(labels: Sequence[str]) -> dict[str, Any]:
    """Return a line per run, in the order of the rows; what all names begin and end with is left out of long ones."""
    return nominal("run", axis={"labelLimit": 190, "ticks": False, "offset": 6, "labelExpr": short_label(labels)})


def points_with_intervals(x: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Return the layers of means with the ends of their intervals, which are in ``low`` and ``high``."""
    low, high = (axis(end, x["title"]) for end in ("low", "high"))
    tick = {"type": "tick", "thickness": 2, "size": 9}
    return [
        {"mark": {"type": "rule", "strokeWidth": 2.5}, "encoding": {"x": low, "x2": {"field": "high"}}},
        *({"mark": tick, "encoding": {"x": end}} for end in (low, high)),
        {"mark": {"type": "point", "filled": True, "size": 90, "opacity": 1}, "encoding": {"x": x, **more}},
    ]


def means_with_intervals(evidence: Evidence) -> Iterator[Chart]:
    """Draw every run's mean with its interval: A and B in their colours, runs that are significantly worse faint.

    Beside a run stands the interval of its rank, and letters: runs that share one cannot be told apart.
    """
    listed, compared = evidence.listed(MOST_FIRST), evidence.compared
    found = evidence.intervals[evidence.scores.deciding, listed]
    rows = []
    for run, row in zip(listed, found.tolist(), strict=True):
        if not np.isnan(row[0]):
            rank = compared.standing(run) if compared else ""
            rows.append((evidence.labels[run], *map(number, row[:3]), evidence.kind(run), rank))
    if not rows:
        return
    names, dashed, baseline = {"measure": evidence.measure}, "", []
    x = axis("mean", "mean {measure}", scale={"zero": True}, axis={"tickCount": 6})
    if evidence.baseline is not None:
        names["baseline"] = evidence.labels[evidence.baseline]
        dashed = " Dashed: the baseline."
        baseline.append(
            {
                "transform": [{"filter": {"field": "run", "equal": "{baseline}"}}],
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": {"x": x, "y": None, "tooltip": None},
            }
        )
    ranks = "."
    if compared is not None and compared.ranks is not None:
        ranks = " and the ranks that the tests leave. Runs that share a letter cannot be told apart."
    few = left_out(len(listed), len(evidence.labels))
    caption = f"Mean {{measure}} over topics, with 95 % intervals{ranks}{dashed}{few}"
    kinds = list(KINDS)[: 2 if len(evidence.labels) == 2 else None]
    legend = None if evidence.pair is None else {"title": None, "symbolType": "circle", "symbolStrokeWidth": 0}
    by, scale = {"field": "kind", "type": "ordinal", "sort": kinds, "legend": legend}, {"domain": kinds}
    colours, faint = [KINDS[kind] for kind in kinds], [0.45 if kind == "significantly worse" else 1 for kind in kinds]
    shade = {
        "color": by | {"scale": scale | {"range": colours}},
        "opacity": by | {"scale": scale | {"range": faint, "type": "ordinal"}},
    }
    text = {"type": "text", "align": "left", "dx": 8, "fontSize": 11}
    beside = {"text": {"field": "rank"}, "color": {"value": INK}, "opacity": {"value": 1}}
    spec = wide(
        26 * len(rows),
        encoding={
            "y": by_name(evidence.labels),
            **shade,
            "tooltip": hover(run="", mean=".4f", low=".4f", high=".4f", rank=""),
        },
        layer=[
            *baseline,
            *points_with_intervals(x),
            {"mark": text, "encoding": {"x": axis("high", x["title"]), **beside}},
        ],
    )
    columns = ("run", "mean", "low", "high", "kind", "rank")
    chart = Chart("means", "Means", caption, "answer", columns, tuple(rows), spec)
    yield following(chart, names, [evidence.labels[run] for run in listed])


def people_and_model(evidence: Evidence) -> Iterator[Chart]:
    """Draw for every run its mean by people alone, by the model alone, and the estimate from both, with intervals."""
    found = evidence.estimates
    if found is None:
        return
    one, listed = found.measures[0], evidence.listed(MOST_FIRST)
    e, rows = one.runs, []
    for run in listed:
        bias, low, high = e.bias[run]
        ends = (e.people[run], (e.model[run], e.model[run] - high, e.model[run] - low))
        for whose, values in zip(BY, (*ends, (e.estimate[run], e.low[run], e.high[run])), strict=True):
            own = number(bias) if whose == "model alone" else None
            rows.append((evidence.labels[run], whose, *(number(float(value)) for value in values), own))
    verdict = f"By the estimate, {one.comparison.conclusion().headline}" if len(found.runs) > 1 else ""
    caption = (
        f"Mean {one.measure} with 95 % intervals, three for each run. People alone: the topics that people judged. "
        "Model alone: all topics under the model's gold; its bar is where the mean lies once the model's bias is taken "
        "off, so a point beside its bar is biased. Estimate from both: what people would find over all topics, if "
        "theirs are a random sample. "
        f"{' '.join((*found.notes(one), verdict)).strip()}{left_out(len(listed), len(evidence.labels))}"
    )
    scale = {"domain": list(BY), "range": list(BY.values())}
    by: dict[str, Any] = {"field": "by", "type": "nominal", "sort": None, "scale": scale, "title": None}
    shapes = {**by, "scale": {"domain": list(BY), "range": ["square", "diamond", "circle"]}}
    offset = {"field": "by", "sort": list(BY), "scale": {"paddingOuter": 0.35}}
    spec = wide(
        58 * len(listed),
        encoding={
            "y": by_name(evidence.labels),
            "yOffset": offset,
            "color": by,
            "tooltip": hover(run="", by="", mean=".4f", low=".4f", high=".4f", bias="+.4f"),
        },
        layer=points_with_intervals(axis("mean", f"mean {one.measure}"), shape=shapes),
    )
    columns = ("run", "by", "mean", "low", "high", "bias")
    yield Chart("estimates", "If people had judged all topics", caption, "answer", columns, tuple(rows), spec)


def differences_per_topic(evidence: Evidence) -> Iterator[Chart]:
    """Draw A minus B for every topic, sorted from A's greatest loss to its greatest gain."""
    if evidence.pair is None:
        return
    a, b = (evidence.labels[run] for run in evidence.pair)
    found = by_topic(evidence)
    if not found:
        return
    rows = tuple(
        (d.topic, number(d.a), number(d.b), number(d.difference), a if d.difference >= 0 else b) for d in found
    )
    compared = evidence.compared
    wins = "" if compared is None else wins_sentence(compared.against(*evidence.pair))
    names = {"a": a, "b": b, "measure": evidence.measure, "wins": wins, "topics": f"{len(found):,}"}
    caption = "A ({a}) minus B ({b}) in {measure}. {wins} Bars above the line are A's gains."
    named = len(rows) <= MOST_NAMES
    labels = {"labels": named, "ticks": named, "labelAngle": -50, "labelLimit": 90}
    values = [{"field": side, "title": f"{{{side}}}", "format": ".4f"} for side in "ab"]
    encoding = {
        "x": nominal("topic", "topic" if named else "{topics} topics, sorted", axis=labels),
        "y": axis("difference", "{measure}, A − B"),
        "color": nominal("better", "better", scale={"domain": ["{a}", "{b}"], "range": list(KINDS.values())[:2]}),
        "tooltip": [{"field": "topic"}, *values, *hover(difference="+.4f")],
    }
    spec = wide(260, mark={"type": "bar", "cursor": "pointer"}, encoding=encoding)
    columns = ("topic", "a", "b", "difference", "better")
    yield following(Chart("differences", "Differences per topic", caption, "topics", columns, rows, spec), names)


def values_per_run(evidence: Evidence) -> Iterator[Chart]:
    """Draw the values of all topics, a line per run: points and a box, or for many topics how many have which value."""
    listed, values = evidence.listed(MOST_DRAWN), evidence.values()
    rows = tuple(
        (evidence.labels[run], topic, number(value))
        for run in listed
        for topic, value in zip(evidence.scores.topics, values[run].tolist(), strict=True)
        if not np.isnan(value)
    )
    if not rows:
        return
    x = axis("value", "{measure} of a topic")
    if len(evidence.scores.topics) > MOST_POINTS:
        caption = "How many topics have which value of {measure}; the tick is the mean."
        binned = {"bin": {"maxbins": 25}, **x}
        count = {"aggregate": "count", "type": "quantitative", "title": "topics"}
        shade = {**count, "scale": {"range": ["#d7e7f2", "#00446b"], "type": "sqrt"}}
        tip = [{"field": "run"}, {**binned, "title": "{measure}"}, count]
        bins = {
            "mark": {"type": "rect"},
            "encoding": {"x": binned, "y": by_name(evidence.labels), "color": shade, "tooltip": tip},
        }
        mean = {"aggregate": "mean", **x}
        tick = {"type": "tick", "thickness": 3, "size": 28, "color": "#D55E00"}
        tip = [{"field": "run"}, {**mean, "title": "mean", "format": ".4f"}]
        layer = [bins, {"mark": tick, "encoding": {"x": mean, "y": by_name(evidence.labels), "tooltip": tip}}]
    else:
        caption = "Every point is one topic; the box holds the middle half of them, its line is the median ({measure})."
        box = {"type": "boxplot", "color": INK, "extent": "min-max", "size": 18, "box": {"fillOpacity": 0.28}}
        point = {"type": "point", "color": INK, "size": 22, "opacity": 0.75, "strokeWidth": 1.2, "cursor": "pointer"}
        layer = [
            {"mark": {**box, "rule": {"opacity": 0.5}}, "encoding": {"x": x, "y": by_name(evidence.labels)}},
            {
                "mark": point,
                "encoding": {"x": x, "y": by_name(evidence.labels), "tooltip": hover(run="", topic="", value=".4f")},
            },
        ]
    caption += left_out(len(listed), len(evidence.labels))
    columns, pivot, spec = ("run", "topic", "value"), ("topic", "run", "value"), wide(34 * len(listed), layer=layer)
    chart = Chart("values", "Topics behind the means", caption, "topics", columns, rows, spec, pivot)
    yield following(chart, {"measure": evidence.measure}, [evidence.labels[run] for run in listed])


def significance_stars(evidence: Evidence) -> Iterator[Chart]:
    """Draw which run improves significantly on which, with rows for every measure."""
    if len(evidence.labels) < 2:
        return
    drawn = evidence.listed(MOST_DRAWN)
    rows: list[tuple[str, ...]] = []
    for found in sorted(evidence.comparisons, key=lambda one: one is None or one.measure != evidence.measure):
        if found is None or len(found.topics) < 2:
            continue
        stars = found.stars()
        for row in drawn:
            for column in drawn:
                kind = "itself" if row == column else "better" if stars[row, column] else "no"
                rows.append((found.measure, evidence.labels[row], evidence.labels[column], MARKS[kind], kind))
    if not rows:
        return
    compared = evidence.compared
    names = {"measure": evidence.measure, "method": str(evidence.settings) if compared is None else compared.method}
    caption = (
        f"★ the row's run improves significantly on the column's under {{measure}} ({{method}}). "
        f"Runs are in the order of {evidence.measure}.{left_out(len(drawn), len(evidence.labels))}"
    )
    labels = {"labelLimit": 120, "labelFontSize": 11, "domain": False, "ticks": False}
    scale = {"domain": ["better", "no", "itself"], "range": ["#0072B2aa", "#88888812", "#88888840"]}
    shade = {"field": "kind", "type": "nominal", "scale": scale, "legend": None}
    text = {"type": "text", "baseline": "middle", "fontSize": 13.6}
    spec: dict[str, Any] = {
        "width": {"step": 22},
        "height": {"step": 22},
        "data": {"name": "rows"},
        "transform": [{"filter": {"field": "measure", "equal": "{measure}"}}],
        "encoding": {
            "x": nominal("column", "… than this run", axis={**labels, "labelAngle": -60}),
            "y": nominal("row", "this run is better …", axis=labels),
            "tooltip": hover(row="", column="", kind=""),
        },
        "layer": [
            {"mark": {"type": "rect", "stroke": "#8886", "strokeWidth": 0.5}, "encoding": {"color": shade}},
            {"mark": text, "encoding": {"text": {"field": "mark"}}},
        ],
    }
    columns, pivot = ("measure", "row", "column", "mark", "kind"), ("row", "column", "mark")
    title, head = "Which differences are significant", "run, better than"
    chart = Chart("stars", title, caption, "agreement", columns, tuple(rows), spec, pivot, head, by="measure")
    yield following(chart, names, [evidence.labels[run] for run in drawn])


def tau_heat_map(evidence: Evidence) -> Iterator[Chart]:
    """Draw Kendall's τ between the rankings of the runs under every two measures, with the .9 / .8 reading."""
    means = evidence.scores.mean
    known = [m for m in range(means.shape[1]) if not np.isnan(means[:, m]).any()]
    kept = sorted(sorted(known, key=lambda m: m != evidence.scores.deciding)[:MOST_CORRELATED])
    if len(evidence.labels) < 3 or len(kept) < 2:
        return
    names = [evidence.scores.measures[m] for m in kept]
    rows = tuple(
        (a, b, number(tau), reading(tau, len(evidence.labels)))
        for a, line in zip(names, correlate(means[:, kept].T).tolist(), strict=True)
        for b, tau in zip(names, line, strict=True)
    )
    low, high = tau_interval(0.9, len(evidence.labels))
    caption = (
        f"Kendall's τ between the rankings of {len(evidence.labels)} runs under two measures. From .9 on they count as "
        "equivalent, below .8 the differences are noticeable (Voorhees 2001), if there are 8 runs or more. Over so "
        f"many runs a τ of .9 has a 95 % interval from {low:.2f} to {high:.2f}.".replace("-", "−")
    )
    if len(kept) < means.shape[1]:
        caption += f" {len(kept)} of {means.shape[1]} measures are drawn, the first and the one that decides."
    (scale,) = scales(READINGS, [row[3] for row in rows])
    shade = {"field": "reading", "type": "nominal", "scale": scale, "title": "reading", "legend": {"columns": 2}}
    color = {"condition": {"test": "datum.reading === 'equivalent'", "value": "white"}, "value": "black"}
    label = {
        "transform": [{"calculate": TAU, "as": "shown"}],
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {"text": {"field": "shown"}, "color": color},
    }
    spec = {
        "width": "container",
        "height": {"step": 28},
        "usermeta": {"least": 34 * len(kept)},
        "data": {"name": "rows"},
        "encoding": {
            "x": nominal("b", axis={"orient": "top", "labelAngle": -40, "labelLimit": 160}),
            "y": nominal("a", axis={"labelLimit": 160}),
        },
        "layer": [{"mark": {"type": "rect"}, "encoding": {"color": shade}}, label],
    }
    columns = ("a", "b", "tau", "reading")
    yield Chart("tau", "Do measures agree", caption, "agreement", columns, rows, spec, ("a", "b", "tau"))


def fidelity_grid(evidence: Evidence) -> Iterator[Chart]:
    """Draw the means of simulated runs, whose order is known: the S×R space under every measure that was tested."""
    test = None if evidence.fidelity is None else evidence.fidelity.space
    if test is None:
        return
    rows = tuple(
        (measure, *run.split("-"), number(mean))
        for measure in test.measures
        for run, mean in test.mean(measure).items()
    )
    kept = "; ".join(f"{m} keeps {k} of {n} expected orders" for m in test.measures for k, n in (test.verdict(m),))
    caption = (
        "Means of runs simulated from the gold: worse parts downwards (S to S_LD, S_ST), worse order to the right "
        f"(R_S swaps the first two articles, R_I puts an intruder on top). {kept}."
    )
    scale = {"domain": [0, 1], "range": ["#e8f1f8", "#005a8c"]}
    shade = {"field": "mean", "type": "quantitative", "scale": scale, "title": "mean", "legend": None}
    dark = {"condition": {"test": "datum.mean > 0.75", "value": "white"}, "value": "black"}
    text = {"text": {"field": "mean", "format": ".3f"}, "color": dark}
    grid = {
        "width": {"step": 56},
        "height": {"step": 28},
        "encoding": {
            "x": nominal("R", "order of articles (R)", axis={"labelAngle": 0}),
            "y": nominal("S", "parts of articles (S)"),
        },
        "layer": [
            {"mark": "rect", "encoding": {"color": shade}},
            {"mark": {"type": "text", "fontSize": 11}, "encoding": text},
        ],
    }
    spec = {
        "data": {"name": "rows"},
        "facet": {"field": "measure", "type": "nominal", "sort": list(test.measures), "title": None},
        "columns": 2,
        "usermeta": {"facet": 56 * len({r for _, _, r, _ in rows}) + 90},
        "spec": grid,
    }
    columns, pivot = ("measure", "S", "R", "mean"), ("S", "R", "mean")
    yield Chart("fidelity", "Fidelity of measures", caption, "fidelity", columns, rows, spec, pivot, by="measure")
