"""Curves as data: a long table with run, topic or ``mean``, x and y."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.errors import MeasureError
from focuseval.measures.measure import every_measure, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from focuseval.evaluation.plan import Plan
    from focuseval.evaluation.scores import Scores
    from focuseval.measures.matching import Matched
    from focuseval.measures.measure import MeasureCall


def curve_of(name: str, matched: Matched, plan: Plan) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the curve that a measure summarises: x, and y for every topic, NaN where the topic is in no mean."""
    asked, curve = asked_curve(name, plan.measures)
    arguments = asked.arguments(plan.policies)
    arguments.pop("at", None)
    x, y = curve(matched, **arguments)
    y = np.asarray(y, np.float64)
    if plan.policies.missing == "skip":
        y = np.where(matched.answered[:, None], y, np.nan)
    return np.asarray(x, np.float64), y


def mean_of(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of a curve over the topics that have one, NaN where none has."""
    kept = ~np.isnan(y).all(axis=1)
    return np.asarray(y[kept].mean(axis=0)) if kept.any() else np.full(y.shape[1], np.nan)


def asked_curve(name: str, scored: Sequence[MeasureCall] = ()) -> tuple[MeasureCall, Callable[..., Any]]:
    """Return the measure whose curve is asked for, with or without its ``@``, and the curve's function.

    A user's own measure is known among those that were scored.
    """
    own = next((a for a in scored if a.key == name and a.measure not in every_measure()), None)
    if own is not None and own.measure.curve is not None:
        return own, own.measure.curve
    if own is not None:
        raise MeasureError(f"{name} summarises no curve: it is declared without one")
    bare = name.split("@", maxsplit=1)[0]
    measure = next((m for m in every_measure() if bare.split("(", maxsplit=1)[0].strip() in {m.name, *m.aliases}), None)
    if measure is None:
        parse(bare)  # says which names are near
    if measure is None or measure.curve is None:
        known = ", ".join(m.name for m in every_measure() if m.curve is not None)
        raise MeasureError(f"{name} summarises no curve; these do: {known}")
    at = ("@1" if measure.at[0] == "rank" else "@0") if measure.at_required else ""
    return parse(bare + at), measure.curve


def curves_csv(scores: Scores) -> bytes:
    """Return the curves of all measures that summarise one, as CSV with a column that names the measure."""
    named: dict[str, str] = {}
    for name in scores.measures:
        with suppress(MeasureError):  # another tool's number or a user's own measure is unknown by name
            if parse(name).measure.curve is not None:
                named.setdefault(name.split("@", maxsplit=1)[0], name)
    if not named:
        known = ", ".join(m.name for m in every_measure() if m.curve is not None)
        raise MeasureError(f"none of the measures summarises a curve; these do: {known}")
    tables = []
    for bare, name in named.items():
        table = scores.curve(name)
        tables.append(table.add_column(0, "measure", pa.array([bare] * len(table), pa.string())))
    from pyarrow import csv  # noqa: PLC0415  only this function writes

    out = pa.BufferOutputStream()
    csv.write_csv(pa.concat_tables(tables), out)
    return bytes(out.getvalue())


def long_table(run: str, topics: tuple[str, ...], x: NDArray[np.float64], y: NDArray[np.float64]) -> pa.Table:
    """Lay out a matrix of topics × points, and its mean over the topics that have a curve."""
    kept = np.asarray(~np.isnan(y).all(axis=1))
    rows = np.vstack([y[kept], mean_of(y)])
    names = [*(topic for topic, k in zip(topics, kept, strict=True) if k), "mean"]
    return pa.table(
        {
            "run": pa.array([run]).take(pa.array(np.zeros(rows.size, np.int64))),
            "topic": pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), len(x)))),
            "x": pa.array(np.tile(x, len(names))),
            "y": pa.array(rows.reshape(-1)),
        }
    )
