"""A large run, scored a block of topics at a time: the same numbers, in memory that does not grow with the run.

Only what looks at one topic at a time can be computed so: measures of spans and of documents, on a run of JSON lines
whose topics stand together. For everything else, and where anything is odd, the run is read at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import NotComparableError
from focuseval.match import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from focuseval.evaluate.plan import Plan
    from focuseval.gold import Gold
    from focuseval.match import Prepared
    from focuseval.run import Run

    Codes = NDArray[np.int64]

LARGE = 1 << 26
"""Bytes from which on a run is streamed."""

TOPICS = 1 << 16
"""Unanswered topics that are scored at once."""


@dataclass(frozen=True)
class Block:
    """Some topics: what the run returned for them, what was judged, and their numbers among all counted topics."""

    run: Run
    prepared: Prepared
    position: Codes


def large(source: Any, run_format: str | None = None) -> bool:
    """Say whether a source is a large file of JSON lines: such a run names no task, and may be streamed."""
    if not isinstance(source, (str, PathLike)) or run_format not in {None, "jsonl", "run-jsonl"}:
        return False
    path = Path(source)
    return path.suffix in {".jsonl", ".ndjson"} and path.is_file() and path.stat().st_size >= LARGE


def streamable(source: Any, prepared: Prepared, plan: Plan) -> bool:
    """Say whether a run can be scored a block at a time under a plan."""
    topic = prepared.gold.articles.topic
    return (
        large(source, plan.run_format)
        and not (plan.repair or plan.queries or len(prepared.gold.elements.topic))
        and plan.policies.compat == "none"
        and all(asked.measure.needs in {("spans",), ("documents",)} for asked in plan.measures)
        and not (plan.chunks is None and any(asked.measure.name == "ceiling" for asked in plan.measures))
        and bool((np.diff(topic) >= 0).all())
        and bool((np.diff(prepared.gold.passages.topic) >= 0).all())
    )


def stream(source: Any, prepared: Prepared) -> Iterator[Block | None]:
    """Yield a run's topics in blocks, then those that it does not answer; None where it must be read at once."""
    from focuseval.formats import placed_run  # noqa: PLC0415  a run in memory needs no reader
    from focuseval.formats.run_blocks import blocks, mapped  # noqa: PLC0415  as above

    number = {name: code for code, name in enumerate(prepared.gold.topics)}
    seen, shape, run = np.zeros(len(number), np.bool_), None, None
    for run in blocks(mapped(Path(source))):
        codes = np.sort(np.array([number[name] for name in run.topics if name in number], np.int64))
        shape = shape or _shape(run)
        if seen[codes].any() or run.text is not None or _shape(run) != shape:
            yield None
            return
        seen[codes] = True
        yield _block(placed_run(run, prepared.index) if prepared.index is not None else run, prepared, codes)
    if run is None:
        yield None
        return
    left, nothing = np.flatnonzero(~seen & prepared.counted), replace(run.take(np.zeros(0, np.int64)), topics=())
    for first in range(0, len(left), TOPICS):
        yield _block(nothing, prepared, left[first : first + TOPICS])


def _shape(run: Run) -> tuple[bool, ...]:
    """Say which columns a block has: they must be the same in all."""
    return tuple(getattr(run, name) is None for name in ("rank", "score", "start", "path"))


def _block(run: Run, prepared: Prepared, codes: Codes) -> Block | None:
    """Return a block; None where nothing in it is highlighted, which alone would be refused."""
    position = prepared.position[codes].astype(np.int64)
    gold = some_topics(prepared.gold, codes)
    return Block(run, prepare(gold, prepared.index), position[position >= 0]) if len(gold.passages.topic) else None


def some_topics(gold: Gold, codes: Codes) -> Gold:
    """Return the part of a gold that judges some topics, by their codes in increasing order."""
    tables = {}
    for name in ("articles", "passages"):
        table = getattr(gold, name)
        low, high = np.searchsorted(table.topic, codes), np.searchsorted(table.topic, codes, "right")
        rows = np.arange((high - low).sum()) + np.repeat(low - (np.cumsum(high - low) - (high - low)), high - low)
        kept = {f.name: column.take(rows) for f in fields(table) if (column := getattr(table, f.name)) is not None}
        kept["topic"] = np.searchsorted(codes, kept["topic"]).astype(np.int32)
        tables[name] = replace(table, **kept)
    return replace(gold, topics=tuple(gold.topics[code] for code in codes.tolist()), **tables)


def score_stream(source: Any, prepared: Prepared, plan: Plan, score: Callable[[Run, Prepared, Plan], Any]) -> Any:
    """Return a run's scores, gathered from those of its blocks; None where it must be read at once."""
    whole, found = None, []
    for block in stream(source, prepared):
        if block is None:
            return None
        try:
            part = score(block.run, block.prepared, plan)
        except NotComparableError:  # a block of strangers says nothing of the whole run
            return None
        whole = whole or _empty(part, len(prepared.topics), part.values.shape[1])
        whole.values[block.position], whole.missing[block.position] = part.values, part.missing
        if whole.unjudged is not None:
            whole.unjudged[block.position] = part.unjudged
        found.append(part)
    return None if whole is None else replace(whole, counts=_total(found, prepared, plan), remarks=_said(found))


def _empty(part: Any, topics: int, measures: int) -> Any:
    unjudged = None if part.unjudged is None else np.zeros(topics, np.int64)
    return replace(part, values=np.empty((topics, measures)), missing=np.ones(topics, np.bool_), unjudged=unjudged)


def _total(parts: list[Any], prepared: Prepared, plan: Plan) -> Any:
    """Add up what stands beside the means."""
    summed = {
        name: sum(getattr(part.counts, name) for part in parts)
        for name in ("missing", "unjudged", "unplaced", "unknown")
    }
    topics = len(prepared.topics) - (summed["missing"] if plan.policies.missing == "skip" else 0)
    return replace(parts[0].counts, topics=topics, excluded=len(prepared.gold.topics) - len(prepared.topics), **summed)


def _said(parts: list[Any]) -> tuple[str, ...]:
    return tuple(remark for part in parts for remark in part.remarks)
