"""Runs × measures → `Scores`: read, match once for each run, compute, count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval import __version__
from focuseval.errors import MeasureError, NotComparableError
from focuseval.evaluate.curves import curve_table
from focuseval.evaluate.lawful import refuse_unlawful
from focuseval.evaluate.plan import Plan, plan_for
from focuseval.evaluate.scores import Counts, Scores, told_apart
from focuseval.evaluate.sources import as_gold, as_index, as_runs, load, read
from focuseval.evaluate.streaming import score_stream, streamable
from focuseval.evaluate.structure import queries_of, strict_gold
from focuseval.evaluate.tagged import tags_of
from focuseval.formats.run_blocks import ahead, streamed_format
from focuseval.match import Matched, match, prepare
from focuseval.measures import Asked, Measure, parse
from focuseval.measures.topicwise import count
from focuseval.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.gold import Gold
    from focuseval.match import Prepared


VERSION = __version__
"""Looked up once: it costs as much as scoring a hundred topics."""


@dataclass(frozen=True)
class Scored:
    """One run's values and counts."""

    run: str
    file: str
    values: NDArray[np.float64]
    missing: NDArray[np.bool_]
    counts: Counts
    results: int
    """How many results were looked at."""
    unjudged: NDArray[np.int64] | None = None
    """For every topic, when the gold has tags, the results that no assessor judged."""
    remarks: tuple[str, ...] = ()
    """What its reader noticed, and why another tool would print other numbers."""


def evaluate(
    gold: Any,
    runs: Any,
    measures: Iterable[str | Asked | Measure] | None = None,
    *,
    task: str | None = None,
    profile: str | None = None,
    index: Any = None,
    docs: Any = None,
    topics: Any = None,
    chunks: Any = None,
    jobs: int = 1,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> Scores:
    """Score runs against a gold.

    Parameters
    ----------
    gold
        What was judged: a gold, a path or a frame.
    runs
        A run, a frame or a path, or several of them. Paths are read one at a time, so that a campaign of any size
        fits into memory.
    measures
        Names such as ``"nxCG@10"``, or measures of your own; by default the profile's, or the task's.
    task, profile
        Task (``focused`` …) and campaign profile (``inex2006`` …): they set policies and default measures.
    index, docs
        The collection: an index; or documents, opened, as a path, or as a mapping from ids to texts. Quotes of the gold
        and texts of the runs are then found in them.
    topics
        The topics or a path to them, needed to read structure strictly (``cas="strict"``).
    chunks
        All chunks of the chunker, for `ceiling`; by default those that occur in the run.
    jobs
        How many runs are scored at once.
    progress
        Called with the share of the work that is done, whenever it has grown; maybe from several threads.
    policies
        Changes of single policies: ``missing="skip"``, ``cutoff=1000`` …
    """
    index, asked = as_index(docs if index is None else index), _asked(measures)
    sources = tuple(ahead(as_runs(runs), policies.get("run_format")))
    gold = as_gold(gold, index)
    if sources and not asked and task is None and not streamed_format(sources[0], policies.get("run_format")):
        sources = (read(sources[0], policies.get("run_format"), index), *sources[1:])  # it may name its task
    first = sources[0] if sources and isinstance(sources[0], Run) else None
    plan = plan_for(gold, first, asked, task=task, profile=profile, changes=policies)
    strict = queries_of(topics, gold) if plan.policies.cas == "strict" else {}
    plan = replace(plan, chunks=chunks, queries=strict)
    prepared = prepare(strict_gold(gold, strict) if strict else gold, index)
    scored = _score_all(sources, prepared, plan, jobs, progress)
    return _collect(scored, sources, prepared, plan)


def _asked(measures: Iterable[str | Asked | Measure] | None) -> tuple[Asked, ...]:
    """Understand names, and measures of the user's own."""
    named = (measures,) if isinstance(measures, (str, Asked, Measure)) or callable(measures) else tuple(measures or ())
    for one in named:
        if not isinstance(one, (str, Asked, Measure)):
            raise MeasureError(f"expected a measure's name or a focuseval.Measure, found a {type(one).__name__}")
    return tuple(Asked(m) if isinstance(m, Measure) else parse(m) if isinstance(m, str) else m for m in named)


def _score_all(
    sources: Sequence[Any], prepared: Prepared, plan: Plan, jobs: int, progress: Callable[[float], None] | None
) -> list[Scored]:
    done = np.zeros(len(sources))

    def score(number: int) -> Scored:
        def move(share: float) -> None:
            done[number] = share
            if progress is not None:
                progress(float(done.mean()))

        scored = score_run(sources[number], prepared, plan, move)
        move(1.0)
        return scored

    if jobs <= 1 or len(sources) <= 1:
        return [score(number) for number in range(len(sources))]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  most evaluations need none

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(score, range(len(sources))))


def score_run(source: Any, prepared: Prepared, plan: Plan, move: Callable[[float], None] | None = None) -> Scored:
    """Match one run and compute every measure on it; a large one a block of topics at a time."""
    if streamable(source, prepared, plan):
        gathered: Scored | None = score_stream(source, prepared, plan, score_run, move)
        if gathered is not None:
            return gathered
    if not len(prepared.gold.passages.topic) and any(asked.needs == ("spans",) for asked in plan.measures):
        _ = prepared.highlights  # refused for want of passages, before anybody asks for an index
    matched = match_run(source, prepared, plan)
    refuse_unlawful(matched, plan.task)
    values = np.empty((matched.topics, len(plan.measures)))
    for column, asked in enumerate(plan.measures):
        values[:, column] = _computed(asked, matched, plan)
    missing = ~matched.answered
    if plan.policies.missing == "skip":
        values[missing] = np.nan
    return Scored(
        matched.run.run_id,
        matched.run.file,
        values,
        missing,
        _counts(matched, prepared, plan),
        len(matched),
        count(~matched.judged, matched.bounds) if tags_of(prepared.gold) else None,
        tuple(_remarks(matched, values, plan)),
    )


def _computed(asked: Asked, matched: Matched, plan: Plan) -> NDArray[np.float64]:
    """Return a measure's values, one for each topic; a user's own measure may make another shape of them."""
    values = np.asarray(asked.measure.compute(matched, **asked.arguments(plan.policies)), np.float64)
    if values.shape != (matched.topics,):
        raise MeasureError(
            f"{asked.key}: expected a number for each of {matched.topics} topics, found a shape of {values.shape}"
        )
    return values


def _remarks(matched: Matched, values: NDArray[np.float64], plan: Plan) -> Iterator[str]:
    """Yield what a reader of one run's scores should know."""
    where = matched.run.file or matched.run.run_id
    yield from (f"{where}: {remark}" for remark in matched.run.remarks)
    if not len(matched.run):
        yield f"{where}: the run returns no result for any topic"
    repeated = max((match.repeated for match in matched.__dict__.get("_elements", {}).values()), default=0)
    if repeated:
        yield f"{where}: {repeated:,} relevant results are repeated; they gain nothing the second time"
    if plan.peer:
        from focuseval.evaluate.peering import explain  # noqa: PLC0415  only asked for by name

        yield from explain(matched, plan.measures, values, plan.peer)


def match_run(source: Any, prepared: Prepared, plan: Plan) -> Matched:
    """Read a run if need be and match it."""
    return match(load(source, plan, prepared.index), prepared, plan.policies, chunks=plan.chunks)


def _counts(matched: Matched, prepared: Prepared, plan: Plan) -> Counts:
    """Count what stands beside the means; a run that shares no document with the gold is refused."""
    unjudged = matched.unjudged
    if len(matched) and unjudged == len(matched) and not _shares_documents(matched, prepared):
        raise NotComparableError(
            f"{matched.run.file or matched.run.run_id}: no document in common with {prepared.gold.file or 'the gold'}; "
            "check that both name documents in the same way (an index or --docs translates between ids)"
        )
    missing = int(np.count_nonzero(~matched.answered))
    placed = matched.__dict__.get("places")
    empty = placed is not None and not placed.points and (placed.end == placed.start) & ~placed.unplaced
    known = prepared.gold.topics
    return Counts(
        topics=matched.topics - (missing if plan.policies.missing == "skip" else 0),
        missing=missing,
        excluded=len(prepared.gold.topics) - matched.topics,
        unjudged=unjudged,
        unplaced=int(np.count_nonzero(placed.unplaced)) if placed is not None else 0,
        unknown=0 if matched.run.topics == known else len(set(matched.run.topics) - set(known)),
        empty=int(np.count_nonzero(empty)),
    )


def _shares_documents(matched: Matched, prepared: Prepared) -> bool:
    from focuseval.match.articles import dictionary, document_codes  # noqa: PLC0415  only doubtful runs need it

    ids = dictionary(matched.run.document).dictionary
    return bool((document_codes(ids, prepared) < len(prepared.gold.documents)).any())


def _collect(scored: list[Scored], sources: Sequence[Any], prepared: Prepared, plan: Plan) -> Scores:
    shape = (len(scored), len(prepared.topics), len(plan.measures))
    labels = told_apart([s.run for s in scored], [s.file for s in scored])
    return Scores(
        runs=tuple(s.run for s in scored),
        topics=prepared.topics,
        measures=tuple(asked.key for asked in plan.measures),
        values=np.array([s.values for s in scored]).reshape(shape),
        counts=tuple(s.counts for s in scored),
        signature=_signature(plan, prepared),
        profile=plan.profile,
        task=plan.task,
        files=tuple(s.file for s in scored),
        gold_sha256=prepared.gold.sha256,
        docs_sha256=getattr(prepared.index, "sha256", None) or None,
        missing=np.array([s.missing for s in scored]).reshape(shape[:2]),
        tags=tags_of(prepared.gold),
        unjudged=_stacked([s.unjudged for s in scored]),
        noticed=(*_of_gold(prepared.gold, plan), *(remark for s in scored for remark in s.remarks)),
        points=lambda name: curve_table(name, sources, labels, prepared, plan),
    )


def _signature(plan: Plan, prepared: Prepared) -> str:
    """Say exactly what was computed: version, profile, policies, and the quantisation that elements were given."""
    parts = [f"focuseval:{VERSION}", f"profile:{plan.profile or 'none'}", plan.policies.signature()]
    parts += ["repair:yes"] if plan.repair else []
    if any(p.name == "quant" for asked in plan.measures for p in asked.measure.parameters):
        from focuseval.quantise import DEFAULTS  # noqa: PLC0415  only elements are quantised

        parts.append(f"quant:{DEFAULTS.get(prepared.gold.scale, 'none')}")
    return "|".join(parts)


def _stacked(rows: list[NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
    known = [row for row in rows if row is not None]
    return np.array(known) if known else None


def _of_gold(gold: Gold, plan: Plan) -> tuple[str, ...]:
    remarks = list(gold.remarks)
    if any("elements" in asked.needs for asked in plan.measures):
        size, rsize = gold.elements.size, gold.elements.rsize
        if capped := int(np.count_nonzero((size >= 0) & (rsize > size))):
            remarks.append(f"{capped:,} assessed elements have more relevant than total characters: wholly relevant")
        if empty := int(np.count_nonzero(size == 0)):
            remarks.append(f"{empty:,} assessed elements hold no characters: not relevant, unless rsize says so")
    return tuple(f"{gold.file or 'the gold'}: {remark}" for remark in remarks)
