"""Curves as data: a long table with run, topic or ``mean``, x and y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval import measures
from focuseval.errors import MeasureError
from focuseval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from focuseval.evaluate.plan import Plan
    from focuseval.evaluate.scores import Scores
    from focuseval.match import Prepared
    from focuseval.measures import Asked, Measure


def curve_table(
    name: str | Measure, sources: Sequence[Any], labels: Sequence[str], prepared: Prepared, plan: Plan
) -> pa.Table:
    """Return the curve that a measure summarises, for every run and topic, and the mean over the topics that count."""
    from focuseval.evaluate.evaluation import match_run  # noqa: PLC0415  evaluation knows curves, and needs them less

    asked, curve = asked_curve(name if isinstance(name, str) else name.name, plan.measures)
    tables = []
    for source, label in zip(sources, labels, strict=True):
        matched = match_run(source, prepared, plan)
        arguments = asked.arguments(plan.policies)
        arguments.pop("at", None)
        x, y = curve(matched, **arguments)
        y = np.asarray(y, np.float64)
        if plan.policies.missing == "skip":
            y = np.where(matched.answered[:, None], y, np.nan)
        tables.append(_long(label, prepared.topics, np.asarray(x), y))
    return pa.concat_tables(tables)


def asked_curve(name: str, scored: Sequence[Asked] = ()) -> tuple[Asked, Callable[..., Any]]:
    """Return the measure whose curve is asked for, with or without its ``@``, and the curve's function.

    A user's own measure is known among those that were scored.
    """
    own = next((a for a in scored if a.key == name and a.measure not in measures.MEASURES), None)
    if own is not None and own.measure.curve is not None:
        return own, own.measure.curve
    if own is not None:
        raise MeasureError(f"{name} summarises no curve: it is declared without one")
    bare = name.split("@", maxsplit=1)[0]
    measure = next(
        (m for m in measures.MEASURES if bare.split("(", maxsplit=1)[0].strip() in {m.name, *m.aliases}), None
    )
    if measure is None:
        parse(bare)  # says which names are near
    if measure is None or measure.curve is None:
        known = ", ".join(m.name for m in measures.MEASURES if m.curve is not None)
        raise MeasureError(f"{name} summarises no curve; these do: {known}")
    at = ("@1" if measure.at[0] == "rank" else "@0") if measure.at_required else ""
    return parse(bare + at), measure.curve


def curves_csv(scores: Scores) -> bytes:
    """Return the curves of all measures that summarise one, as CSV with a column that names the measure."""
    named: dict[str, str] = {}
    for name in scores.measures:
        bare = name.split("@", maxsplit=1)[0]
        if _summarises(name):
            named.setdefault(bare, name)
    if not named:
        known = ", ".join(m.name for m in measures.MEASURES if m.curve is not None)
        raise MeasureError(f"none of the measures summarises a curve; these do: {known}")
    tables = []
    for bare, name in named.items():
        table = scores.curve(name)
        tables.append(table.add_column(0, "measure", pa.array([bare] * len(table), pa.string())))
    from pyarrow import csv  # noqa: PLC0415  only this function writes

    out = pa.BufferOutputStream()
    csv.write_csv(pa.concat_tables(tables), out)
    return bytes(out.getvalue())


def _summarises(name: str) -> bool:
    """Say whether a measure summarises a curve; another tool's number or a user's own measure is unknown by name."""
    try:
        return parse(name).measure.curve is not None
    except MeasureError:
        return False


def _long(run: str, topics: tuple[str, ...], x: Any, y: Any) -> pa.Table:
    """Lay out a matrix of topics × points, and its mean over the topics that have a curve."""
    kept = ~np.isnan(y).all(axis=1)
    mean = y[kept].mean(axis=0) if kept.any() else np.full(len(x), np.nan)
    rows = np.vstack([y[kept], mean])
    names = [*(topic for topic, k in zip(topics, kept, strict=True) if k), "mean"]
    return pa.table(
        {
            "run": pa.array([run]).take(pa.array(np.zeros(rows.size, np.int64))),
            "topic": pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), len(x)))),
            "x": pa.array(np.tile(np.asarray(x, np.float64), len(names))),
            "y": pa.array(rows.reshape(-1)),
        }
    )
