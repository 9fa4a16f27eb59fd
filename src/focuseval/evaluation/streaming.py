"""A large run, scored a block of topics at a time: the same numbers, in memory that does not grow with the run.

Only what looks at one topic at a time can be computed so: measures of spans and of documents, on a run of JSON lines or
a TREC run whose topics stand together. For everything else, and where anything is odd, the run is read at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import tee
from os import fspath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.remarks import ORDER, Remark
from focuseval.data.run import Run
from focuseval.engine.storage import location
from focuseval.engine.workers import Shared, Workers
from focuseval.errors import FocusevalError
from focuseval.evaluation.plan import Plan
from focuseval.evaluation.scoring import RunScores, match_source, refuse_invalid, remarks_on_order, score_match
from focuseval.formats.files import LargeRun, LineBlock, ahead, block_reader, cuts, streamed_format
from focuseval.formats.ranking import contradicted
from focuseval.measures.prepared import Prepared, prepare

Codes = NDArray[np.int64]

TOPICS = 1 << 16  # unanswered topics that are scored at once


@dataclass(frozen=True)
class Piece:
    """What became of one block: its topics' codes in the gold, its scores, and an empty run of its shape."""

    codes: Codes
    strangers: frozenset[str]
    """Topics that the gold does not know."""
    scored: RunScores | None  # the block's scores; None where the gold knows none of its topics
    nothing: Run
    remarks: tuple[Remark, ...] = ()
    """On the order of a block that was not scored."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """The run's name, and which columns it has: the same in all blocks."""
        run = self.nothing
        return run.run_id, *(getattr(run, name) is None for name in ("rank", "score", "start", "path"))


def score_stream(
    source: Any, plan: Plan, prepared: Prepared, move: Callable[[float], None],
    elsewhere: tuple[Workers, Shared[tuple[Plan, Prepared]]] | None = None,
) -> RunScores | None:  # fmt: skip
    """Return a run's scores, gathered from those of its blocks, here or `elsewhere`; None where it is read at once."""
    streamable = (
        not (plan.repair or plan.queries or plan.order or len(prepared.gold.elements.topic))
        and plan.policies.compat == "none"
        and all(asked.measure.needs in {("spans",), ("documents",)} for asked in plan.measures)
        and not isinstance(plan.chunks, tuple)
        and not (plan.chunks is None and any(not asked.measure.topicwise for asked in plan.measures))
        and all((np.diff(table.topic) >= 0).all() for table in (prepared.gold.articles, prepared.gold.passages))
    )
    if not streamable:
        return None
    pieces, number = list[Piece](), topic_codes(prepared)
    seen, strangers = np.zeros(len(prepared.gold.topics), np.bool_), set[str]()
    if elsewhere is None:
        large: LargeRun = ahead([source], plan.run_format)[0]
        parts = large.each(lambda run: _piece(run, number, plan, prepared))
    else:
        (workers, shared), path = elsewhere, location(fspath(source))
        known = str(streamed_format(source, plan.run_format))
        cut, again = tee(cuts(path, block_reader(path, known)[1]))
        work, size = partial(_piece_of_file, shared, str(path.absolute()), known), path.stat().st_size
        done = zip(workers.in_order(work, cut), again, strict=False)
        parts = ((piece, end / size) for piece, (_, end) in done)
    for piece, share in parts:
        if piece is None or (pieces and piece.shape != pieces[0].shape):
            return None
        if seen[piece.codes].any() or strangers & piece.strangers:  # its topics do not stand together
            return None
        seen[piece.codes] = True
        strangers |= piece.strangers
        pieces.append(piece)
        move(share)
    answered = [piece.scored for piece in pieces if piece.scored is not None]
    if not any(part.judged for part in answered):
        return None  # no document in common: another spelling of ids may have some
    left, nothing = np.flatnonzero(~seen & prepared.counted), pieces[0].nothing
    for first in range(0, len(left), TOPICS):
        codes = left[first : first + TOPICS]
        part = some_topics(prepared, codes)
        if len(prepared.gold.passages.topic) and not len(part.gold.passages.topic):
            return None  # as in `_piece`
        scored = score_match(match_source(nothing, plan, part), replace(plan, task=None))
        pieces.append(Piece(codes, frozenset(), replace(scored, remarks=()), nothing))
    return _gathered(pieces, len(strangers), prepared)


def _piece_of_file(
    shared: Shared[tuple[Plan, Prepared]], path: str, known: str, bounds: tuple[int, int]
) -> Piece | None:
    """Read and score one block of a file, in a worker."""
    plan, prepared = shared.get()
    read, _ = block_reader(location(path), known)
    return _piece(read(LineBlock(location(path), *bounds)), topic_codes(prepared), plan, prepared)


def topic_codes(prepared: Prepared) -> dict[str, int]:
    """Return the code of every topic of the gold, by its name."""
    return {name: code for code, name in enumerate(prepared.gold.topics)}


def _piece(run: Run, number: dict[str, int], plan: Plan, prepared: Prepared) -> Piece | None:
    """Score one block; None where the run must be read at once: its texts aligned, its order checked, a line named."""
    if run.text is not None or run.split_topics or contradicted(run):  # lines would be counted from the block's first
        return None
    codes = np.sort(np.array([number[name] for name in run.topics if name in number], np.int64))
    strangers = frozenset(run.topics) - number.keys()
    empty: dict[str, Any] = {"topics": ()}  # no rows; a slice of the run's columns would keep all of their memory
    for name, column in ((part.name, getattr(run, part.name)) for part in fields(run)):
        if isinstance(column, np.ndarray):
            empty[name] = column[:0].copy()
        elif isinstance(column, (pa.Array, pa.ChunkedArray)):
            empty[name] = pa.array([], column.type)
    nothing = replace(run, **empty)
    if not len(codes):
        try:
            refuse_invalid(run, plan.task, cutoff=plan.policies.cutoff)
        except FocusevalError:
            return None
        return Piece(codes, strangers, None, nothing, tuple(remarks_on_order(run)))
    part = some_topics(prepared, codes)
    if len(prepared.gold.passages.topic) and not len(part.gold.passages.topic):
        return None  # alone, it would be refused for want of highlights
    try:
        return Piece(codes, strangers, score_match(match_source(run, plan, part), plan), nothing)
    except FocusevalError:
        return None


def some_topics(prepared: Prepared, codes: Codes) -> Prepared:
    """Return the part of a gold that judges some topics, by their codes in increasing order."""
    gold, tables = prepared.gold, {}
    for name in ("articles", "passages"):
        table = getattr(gold, name)
        asked = codes.astype(table.topic.dtype)  # of another type, all rows would be copied
        low, high = np.searchsorted(table.topic, asked), np.searchsorted(table.topic, asked, "right")
        kept = {
            f.name: _rows(column, low, high) for f in fields(table) if (column := getattr(table, f.name)) is not None
        }
        kept["topic"] = np.repeat(np.arange(len(codes), dtype=np.int32), high - low)
        tables[name] = replace(table, **kept)
    part = replace(gold, topics=tuple(gold.topics[code] for code in codes.tolist()), **tables)
    return replace(prepare(part, prepared.index), whole=prepared, all_topics=prepared.all_topics)


def _rows(column: Any, low: Codes, high: Codes) -> Any:
    """Return the rows between pairs of bounds; where they touch, as they mostly do, without a copy."""
    if len(low) and (low[1:] == high[:-1]).all():
        return column[int(low[0]) : int(high[-1])]
    size = high - low
    return column.take(np.arange(size.sum()) + np.repeat(low - (np.cumsum(size) - size), size))


def _gathered(pieces: list[Piece], strangers: int, prepared: Prepared) -> RunScores:
    """Put the values and counts of all topics into the gold's order; of remarks on order, the first of each kind."""
    parts = [(piece.codes, piece.scored) for piece in pieces if piece.scored is not None]
    first, topics = parts[0][1], len(prepared.topics)
    values = np.empty((topics, first.values.shape[1]))
    counted = np.zeros((topics, first.counts.shape[1]), np.int64)
    for codes, part in parts:
        position = prepared.position[codes]
        position = position[position >= 0]
        values[position], counted[position] = part.values, part.counts
    once: dict[object, Remark] = {}
    for remark in (one for piece in pieces for one in (piece.scored.remarks if piece.scored else piece.remarks)):
        once.setdefault(remark.kind if remark.kind in ORDER else remark, remark)
    judged, remarks = sum(part.judged for _, part in parts), sorted(once.values(), key=lambda one: one.kind in ORDER)
    return replace(first, values=values, counts=counted, unknown=strangers, judged=judged, remarks=tuple(remarks))
