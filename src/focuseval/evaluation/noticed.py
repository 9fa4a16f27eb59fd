"""What a reader of one run's scores should know: remarks of reading and placing, and doubts about the run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.data.gold import Gold
    from focuseval.data.run import Run
    from focuseval.evaluation.plan import Plan
    from focuseval.measures.matching.matched import Matched
    from focuseval.measures.measure import MeasureCall

TWINS = {
    "P": "spanP",
    "Rprec": "spanP",
    "R": "spanR",
    "AP": "hAP",
    "RR": "spanRR",
    "nDCG": "spanNDCG",
    "Success": "hit",
}
"""Measures of documents, and what measures chunks in the same way."""


def noticed(matched: Matched, values: NDArray[np.float64], plan: Plan) -> Iterator[str]:
    """Yield every remark on a run, each with the run's file or name before it."""
    run = matched.run
    where = run.file or run.run_id
    yield from (f"{where}: {remark}" for remark in run.remarks)
    if not len(run):
        yield f"{where}: the run returns no result for any topic"
    repeated = max((one.repeated for one in matched.element_matches.values()), default=0)
    if repeated:
        yield f"{where}: {repeated:,} relevant results are repeated; they gain nothing the second time"
    if len(matched.prepared.gold.passages.topic) and not run.whole_documents and run.path is None:
        yield from (f"{where}: {remark}" for remark in _of_documents(plan.measures))
    if plan.peer:
        from focuseval.evaluation.compat import explain  # noqa: PLC0415  only asked for by name

        yield from explain(matched, plan.measures, values, plan.peer)
    yield from order_remarks(run)


def folded(remarks: Iterable[str]) -> list[str]:
    """Return every remark once; what is said of more than three runs in the same words is said of them together.

    >>> folded([f"{run}: ranks repeat" for run in "abcde"] + ["a: no result"])
    ['a, b and 3 more: ranks repeat', 'a: no result']
    """
    parted = [remark.partition(": ") for remark in dict.fromkeys(remarks)]
    named = dict[str, list[str]]()
    for name, _, what in parted:
        named.setdefault(what, []).append(name)
    named.pop("", None)  # remarks that name no run
    many = {what: f"{names[0]}, {names[1]} and {len(names) - 2:,} more" for what, names in named.items() if names[3:]}
    return list(dict.fromkeys(f"{many.get(what, name)}{colon}{what}" for name, colon, what in parted))


def _of_documents(measures: Sequence[MeasureCall]) -> Iterator[str]:
    """Say that measures of documents look at a run of chunks as at a list of documents, and which measure chunks."""
    asked = [one for one in measures if one.measure.name in TWINS]
    if asked:
        names = ", ".join(str(one) for one in asked)
        at = [f"@{one.at}" if one.at and TWINS[one.measure.name] != "hAP" else "" for one in asked]
        twins = dict.fromkeys(TWINS[one.measure.name] + place for one, place in zip(asked, at, strict=True))
        yield (
            f"{names}: of documents, each at the rank of its first chunk, whatever the chunk holds; "
            f"{', '.join(twins)}: of the chunks themselves"
        )


def of_gold(gold: Gold, measures: Sequence[MeasureCall]) -> tuple[str, ...]:
    """Return what a reader should know of the gold, with its file before it."""
    remarks = list(gold.remarks)
    if any("elements" in asked.needs for asked in measures):
        size, rsize = gold.elements.size, gold.elements.rsize
        if capped := int(np.count_nonzero((size >= 0) & (rsize > size))):
            remarks.append(f"{capped:,} assessed elements have more relevant than total characters: wholly relevant")
        if empty := int(np.count_nonzero(size == 0)):
            remarks.append(f"{empty:,} assessed elements hold no characters: not relevant, unless rsize says so")
    return tuple(f"{gold.file or 'the gold'}: {remark}" for remark in remarks)


def other_names(measures: Sequence[MeasureCall]) -> Iterator[str]:
    """Say of measures that were asked for by another name what they are."""
    for one in measures:
        if one.written.partition("@")[0].partition("(")[0].strip() not in {"", one.measure.name}:
            yield f"{one.written} stands for {one}: {one.measure.summary}"


def order_remarks(run: Run) -> Iterator[str]:
    """Say which topics stand in several blocks, and that ranks repeat, fall or are 0; of each the first."""
    where = f"{run.file or run.run_id}: {RANKS}"
    if split := run.split_topics:
        (topic, line), more = split[0], f" ({len(split):,} topics do)" if len(split) > 1 else ""
        yield f"{where} topic {topic!r} is in several blocks{more}, again on line {line}; its results are joined"
    odd = [(int(rows[0]), what, then) for what, then, rows in _odd_ranks(run) if len(rows)]
    for row, what, then in sorted(odd, key=lambda one: one[0]):
        yield f"{where} {what} (first in topic {run.topic_of(row)!r}); {then}"


RANKS = "ranking:"
"""What stands before a remark on the order of results."""


def _odd_ranks(run: Run) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield what may be odd in ranks, what follows from it, and the rows where it is."""
    if run.rank is None or not len(run):
        return
    rank, topic = run.rank, run.topic
    at = np.flatnonzero(rank[1:] <= rank[:-1])  # few: where topics begin, and what is odd
    at = at[topic[at + 1] == topic[at]]
    repeats = rank[at + 1] == rank[at]
    yield "ranks repeat", "what decides is told by 'focuseval formats'", at[repeats]
    yield "ranks fall where scores do not rise", "the scores decide", at[~repeats]
    yield "ranks are 0", "they are read as an order", np.flatnonzero(rank <= 0) if rank.min() <= 0 else at[:0]
    if run.score is None and run.line is not None and not run.split_topics:
        back = (topic[1:] == topic[:-1]) & (run.line[1:] < run.line[:-1])
        yield "ranks fall from line to line", "the ranks decide", np.flatnonzero(back)
