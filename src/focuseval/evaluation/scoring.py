"""One run's match, or that of a block of its topics: every measure's values on it, its curves, and remarks on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.gold import ASSISTED, ORIGIN
from focuseval.data.remarks import Remark, remark_on
from focuseval.data.run import Run
from focuseval.errors import MeasureError, NotComparableError, Place, TaskError, counted
from focuseval.evaluation.counts import count_topics
from focuseval.evaluation.plan import Plan, twin_of
from focuseval.evaluation.sources import load
from focuseval.measures import MeasureCall
from focuseval.measures.document_matching import shares_documents
from focuseval.measures.matching import Matched, match
from focuseval.measures.measure import every_measure, parse
from focuseval.measures.prepared import Prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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


@dataclass(frozen=True, eq=False)
class RunScores:
    """One run's values and counts."""

    run: str
    file: str
    values: Floats
    """Topics × measures."""
    counts: NDArray[np.int64]  # topics × the counts that add up over topics; see `focuseval.evaluation.counts`
    unknown: int  # topics that the gold does not have
    judged: int  # how many of its results somebody judged, read by a measure or not
    remarks: tuple[Remark, ...] = ()  # what its reader noticed, and why another tool would print other numbers
    origin: str = ""  # the package whose format read it, with its version, where it is none of ours


def match_source(source: Any, plan: Plan, prepared: Prepared, number: int | None = None) -> Matched:
    """Read a run, of such a number in the plan, and match it with the gold; one that breaks its task is refused."""
    gold, of_spans = prepared.gold, [asked.measure for asked in plan.measures if asked.needs == ("spans",)]
    if not len(gold.passages.topic) and not all(one.or_sizes and gold.sizes_only for one in of_spans):
        _ = prepared.highlights  # refused for want of passages, before anybody asks for an index
    run = load(source, plan, prepared.index)
    return match(run, prepared, plan.policies, chunks=plan.chunks_of(number), tokenizer=plan.tokenizer)


def score_match(matched: Matched, plan: Plan) -> RunScores:
    """Compute every measure on a match; a run that breaks its task or shares no document with the gold is refused."""
    run, gold = matched.run, matched.prepared.gold
    refuse_invalid(run, plan.task, cutoff=plan.policies.cutoff)
    if plan.task in {"focused", "relevant-in-context"} and run.start is not None:
        _ = matched.places  # their rules look at places: results without text are counted, whatever the measures
    values = np.empty((matched.topics, len(plan.measures)))
    for column, asked in enumerate(plan.measures):
        computed = np.asarray(asked.measure.compute(matched, **asked.arguments(plan.policies)), np.float64)
        if computed.shape != (matched.topics,):  # of a user's own measure
            raise MeasureError(
                f"{asked.key}: expected a number for each of {matched.topics} topics, found a shape of {computed.shape}"
            )
        values[:, column] = computed
    bases = [asked.measure.base for asked in plan.measures]
    values = np.where([base == "relevance" for base in bases], by_policies(values, matched), values)
    for column, base in enumerate(bases if matched.prepared.beside else ()):
        values[~matched.prepared.based(base)[matched.prepared.counted], column] = np.nan
    if len(matched) and matched.unjudged == len(matched) and not shares_documents(matched):
        named = next(filter(None, run.document.to_pylist()), None)
        what = (
            f"no document in common with {gold.file or 'the gold'}: the run has {named!r}, the gold "
            f"{gold.documents[0].as_py()!r}; check that both name documents in the same way (index= or docs= "
            "translates between ids)"
        )
        if named is None:
            what = "none of its texts was found in one document of the collection; check that these are the "
            what += "documents that it was made from"
        raise NotComparableError(f"{run.file or run.run_id}: {what}")
    unknown, counts = len(set(run.topics) - set(gold.topics)), count_topics(matched, plan.measures)
    judged, remarks = len(matched) - matched.unjudged, tuple(remarks_on_run(matched, values, plan))
    return RunScores(run.run_id, run.file, values, counts, unknown, judged, remarks, run.origin)


def refuse_invalid(run: Run, task: str | None, *, cutoff: int | None = None, official: bool = False) -> None:
    """Raise the first error that `check` finds, in any topic: the score of a run that breaks its task means nothing."""
    if task is None:
        return
    from focuseval.measures.checks import check  # noqa: PLC0415  five modules that only a task needs
    from focuseval.measures.tasks import DUPLICATE, OVERLAP, find_task  # noqa: PLC0415  as above

    if run.file and not run.topics:  # a run in memory may be empty
        raise TaskError(f"not valid for task {task}: it answers no topic", at=run.file)
    chosen = find_task(task)
    chosen = chosen if cutoff is None else replace(chosen, limit=cutoff, cut=True)  # the rest is ignored
    findings = check(run, chosen, warnings=False)
    if official and chosen.grouped:  # the official tool looks for overlap in focused runs only
        kept = tuple(part for part in findings.broken if part.rule not in {OVERLAP, DUPLICATE})
        findings = replace(findings, broken=kept)
    first = findings.first_error
    if first is not None:
        remedy = f"see 'focuseval validate --task {task}', which also repairs runs"
        raise TaskError(
            f"topic {first.topic}: {first.what} ({counted(findings.errors, 'error')} for the task {task})",
            at=Place(first.file, first.line) if run.file else run.run_id,
            remedy=remedy if official else f"{remedy}, or score with '--repair'",
        )


def curve_of(name: str, matched: Matched, plan: Plan) -> tuple[Floats, Floats]:
    """Return the curve that a measure summarises: x, and y for every topic, NaN where the topic is in no mean."""
    asked, curve = asked_curve(name, plan.measures)
    arguments = asked.arguments(plan.policies)
    arguments.pop("at", None)
    x, y = (np.asarray(side, np.float64) for side in curve(matched, **arguments))
    return x, by_policies(y, matched)


def by_policies(values: Floats, matched: Matched) -> Floats:
    """Return the rows of topics as the policies count those without anything relevant, and those not answered."""
    if matched.policies.empty_topics == "zero":
        values = np.nan_to_num(values)
    return np.where(matched.answered[:, None], values, np.nan) if matched.policies.missing == "skip" else values


def mean_of(y: Floats) -> Floats:
    """Return the mean of a curve over the topics that have one, NaN where none has."""
    kept = ~np.isnan(y).all(axis=1)
    return np.asarray(y[kept].mean(axis=0)) if kept.any() else np.full(y.shape[1], np.nan)


def asked_curve(name: str, scored: Sequence[MeasureCall] = ()) -> tuple[MeasureCall, Callable[..., Any]]:
    """Return the measure whose curve is asked for, with or without its ``@``, and the curve's function."""
    own = next((a for a in scored if a.key == name and a.measure not in every_measure()), None)  # a user's own
    if own is not None and own.measure.curve is None:
        raise MeasureError(f"{name} summarises no curve: it is declared without one")
    if own is not None and own.measure.curve is not None:
        return own, own.measure.curve
    bare = name.split("@", maxsplit=1)[0]
    measure = next((m for m in every_measure() if bare.split("(", maxsplit=1)[0].strip() in {m.name, *m.aliases}), None)
    if measure is None:
        parse(bare)  # says which names are near
    if measure is None or measure.curve is None:
        raise MeasureError(f"{name} summarises no curve; these do: {curve_names()}")
    at = ("@1" if measure.at[0] == "rank" else "@0") if measure.at_required else ""
    return parse(bare + at), measure.curve


def curve_names() -> str:
    """Name the measures that summarise a curve."""
    return ", ".join(m.name for m in every_measure() if m.curve is not None)


def remarks_on_run(matched: Matched, values: Floats, plan: Plan) -> Iterator[Remark]:
    """Yield every remark on a run: of its reader, on its results, on the measures asked for, on its order."""
    run = matched.run
    where = run.file or run.run_id
    yield from (remark_on(where, noticed) for noticed in run.remarks)
    if not len(run):
        yield Remark("no results", file=where)
    repeated = max((one.repeated for one in matched.element_matches.values()), default=0)
    if repeated:
        yield Remark("repeated", repeated, file=where)
    asked = [one for one in plan.measures if one.measure.name in TWINS]
    if asked and len(matched.prepared.gold.passages.topic) and not run.whole_documents and run.path is None:
        at = [f"@{one.at}" if one.at and TWINS[one.measure.name] != "hAP" else "" for one in asked]
        twins = dict.fromkeys(TWINS[one.measure.name] + place for one, place in zip(asked, at, strict=True))
        yield Remark("documents", len(asked), (", ".join(map(str, asked)), ", ".join(twins)), where)
    for column, mine in enumerate(plan.measures):
        twin = twin_of(mine, plan.peer)
        if twin is None:
            continue
        theirs, names = values[:, column + 1], (str(plan.measures[column + 1]), str(mine))
        differ = ~np.isclose(values[:, column], theirs, rtol=0, atol=1e-12, equal_nan=True)
        if not differ.any():
            yield Remark("peer equals", len(differ), names, run.run_id)
            continue
        counts = [
            (int(np.count_nonzero(differ & r.holds(matched, int(mine.at) if mine.at else None))), r.said)
            for r in twin.reasons
        ]
        because = "; ".join(f"{reason} (in {counted(number, 'topic')})" for number, reason in counts if number)
        most = f", with values up to {np.nanmax(theirs):.4g}" if np.nanmax(theirs) > 1 else ""
        share = f"{differ.sum()} of {counted(len(differ), 'topic')}{most}"
        yield Remark("peer differs", int(differ.sum()), (*names, share, because), run.run_id)
    yield from remarks_on_order(run)


def remarks_on_gold(prepared: Prepared, plan: Plan) -> Iterator[Remark]:
    """Yield every remark on names of measures, and on a gold: of its reader, on topics without relevance, on sizes."""
    for one in plan.measures:
        if one.written.partition("@")[0].partition("(")[0].strip() not in {"", one.measure.name}:
            yield Remark("other name", details=(one.written, str(one), one.measure.summary))
    gold = prepared.gold
    where = gold.file or "the gold"
    yield from (remark_on(where, noticed) for noticed in gold.remarks)
    facts = list(gold.attributes.values())
    drafted, assisted = sum(own.get(ORIGIN) == "draft" for own in facts), sum(ASSISTED in own for own in facts)
    for kind, number in (("drafted", drafted), (ASSISTED, assisted)):
        if number:
            yield Remark(kind, number, (f"{len(gold.topics):,}",), where)
    empty = int(np.count_nonzero(~prepared.with_relevance))
    if empty and (prepared.all_topics or (gold.scale == "trec" and plan.policies.compat == "none")):
        yield Remark(f"empty topics: {plan.policies.empty_topics}", empty, file=where)
    if any("elements" in asked.needs for asked in plan.measures):
        size, rsize = gold.elements.size, gold.elements.rsize
        if capped := int(np.count_nonzero((size >= 0) & (rsize > size))):
            yield Remark("capped", capped, file=where)
        if empty := int(np.count_nonzero(size == 0)):
            yield Remark("empty elements", empty, file=where)


def remarks_on_order(run: Run) -> Iterator[Remark]:
    """Say which topics stand in several blocks, and that ranks repeat, fall or are 0; of each the first."""
    where = run.file or run.run_id
    if split := run.split_topics:
        topic, line = split[0]
        yield Remark("split", len(split), (topic, str(line)), where)
    if run.rank is None or not len(run):
        return
    rank, topics = run.rank, run.topic
    at = np.flatnonzero(rank[1:] <= rank[:-1])  # few: where topics begin, and what is odd
    at = at[topics[at + 1] == topics[at]]
    repeats = rank[at + 1] == rank[at]
    odd = {"ranks repeat": at[repeats], "ranks fall": at[~repeats]}
    if rank.min() <= 0:
        odd["ranks are 0"] = np.flatnonzero(rank <= 0)
    if run.score is None and run.line is not None and not run.split_topics:
        back = (topics[1:] == topics[:-1]) & (run.line[1:] < run.line[:-1])
        odd["ranks go back"] = np.flatnonzero(back)
    first = {kind: int(rows[0]) for kind, rows in odd.items() if len(rows)}
    for kind, row in sorted(first.items(), key=lambda one: one[1]):
        yield Remark(kind, len(odd[kind]), (run.topic_of(row),), where)
