"""One evaluation: plan, prepared gold, matches, and the scores that are their values.

Everything that explains a score reads the `Evaluation` behind it: curves, the report, heat maps, repairs. A run is
matched once, when somebody first asks; its match is kept while all matches together are small, else let go and made
again if it is asked for again. So a campaign of any number of runs keeps values only.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.errors import MeasureError, MissingDataError, NotComparableError
from focuseval.evaluation.counts import counted, total
from focuseval.evaluation.curves import curve_of, long_table
from focuseval.evaluation.noticed import noticed, of_gold, other_names
from focuseval.evaluation.scores import Scores
from focuseval.evaluation.signature import signature
from focuseval.evaluation.sources import absolute, load
from focuseval.evaluation.tagged import tags_of
from focuseval.evaluation.task_rules import refuse_invalid
from focuseval.formats.run_blocks import streamed_format
from focuseval.measures.matching.documents import shares_documents
from focuseval.measures.matching.matched import Matched, match
from focuseval.placing import place_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.data.gold import Gold
    from focuseval.data.run import Run
    from focuseval.engine.shared import Shared
    from focuseval.engine.workers import Workers
    from focuseval.evaluation.plan import Plan
    from focuseval.measures.matching.prepared import Prepared
    from focuseval.measures.measure import Measure, MeasureCall

    SharedPlan = Shared[tuple[Plan, Prepared]]

_AT_ONCE = 16
"""Runs that a process is given at once, at most: a small run takes about as long as handing it out."""

KEPT = 1 << 28
"""Bytes of runs whose matches are kept."""


@dataclass(frozen=True, eq=False)
class RunScores:
    """One run's values and counts."""

    run: str
    file: str
    values: NDArray[np.float64]
    """Topics × measures."""
    counts: NDArray[np.int64]
    """Topics × the counts that add up over topics; see `focuseval.evaluation.counts`."""
    unknown: int
    """Topics that the gold does not have."""
    results: int
    """How many results were evaluated."""
    remarks: tuple[str, ...] = ()
    """What its reader noticed, and why another tool would print other numbers."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Runs against a gold under a plan."""

    plan: Plan
    prepared: Prepared
    sources: tuple[Any, ...]
    """The runs: values, paths or frames."""
    jobs: int = 1
    progress: Callable[[float], None] | None = None
    workers: Workers | None = None
    """Other workers than processes of this machine, such as a cluster's."""
    _made: dict[int, Matched] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @cached_property
    def scores(self) -> Scores:
        """Every run's values."""
        return _collected(self, self._score_all())

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for every run."""
        return self.scores.names

    def matched(self, number: int) -> Matched:
        """Return the match of one run, made when it is first asked for."""
        with self._lock:
            made = self._made.get(number)
        return self._matched(self.sources[number], number) if made is None else made

    def _matched(self, source: Any, number: int | None) -> Matched:
        """Read a run and match it; keep the match of a whole run while all of them together are small."""
        run = load(source, self.plan, self.prepared.index)
        chunks, tokenizer = self.plan.chunks_of(number), self.plan.tokenizer
        matched = match(run, self.prepared, self.plan.policies, chunks=chunks, tokenizer=tokenizer)
        if number is not None and number < len(self.sources):  # another process's part of the work has no sources
            with self._lock:
                if sum(_size(one.run) for one in self._made.values()) + _size(run) <= KEPT:
                    self._made[number] = matched
        return matched

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
        import pyarrow as pa  # noqa: PLC0415  only this method needs it

        name = measure if isinstance(measure, str) else measure.name
        curves = [(label, curve_of(name, self.matched(n), self.plan)) for n, label in enumerate(self.labels)]
        return pa.concat_tables([long_table(label, self.prepared.topics, x, y) for label, (x, y) in curves])

    def repairs(self) -> pa.Table:
        """Return every quote of the gold and text of the runs that is not where it was said to be."""
        from focuseval.data.alignment import repairs_of  # noqa: PLC0415  only asked for by name
        from focuseval.placing.texts import collection_of  # noqa: PLC0415  only asked for by name

        placement = self.prepared.gold.placement
        if placement is None:
            where = self.prepared.gold.file or "the gold"
            raise MissingDataError(f"{where}: repairs compare texts with the documents; give them with --docs")
        runs = (place_run(self.matched(n).run, collection_of(placement)) for n in range(len(self.sources)))
        placements = (placement, *(run.placement for run in runs))
        return repairs_of(one.alignment for one in placements if one is not None)

    def part(self, prepared: Prepared) -> Evaluation:
        """Return the evaluation of some topics only: their gold is prepared and the run's rules are checked already."""
        return Evaluation(replace(self.plan, task=None), prepared, ())

    def _score_all(self) -> list[RunScores]:
        """Score every run: large files one by one, each with all cores; the others by so many processes."""
        large = [streamed_format(source, self.plan.run_format) is not None for source in self.sources]
        done, found = np.zeros(len(self.sources)), dict[int, RunScores]()

        def move(number: int, share: float) -> None:
            done[number] = share
            if self.progress is not None:
                self.progress(float(done.mean()))

        here = self.workers is None and (self.jobs <= 1 or large.count(False) <= 1)
        others = [number for number in range(len(self.sources)) if not (large[number] or here)]
        with self._elsewhere(needed=bool(others) or self.workers is not None) as (workers, shared):
            for number in set(range(len(self.sources))) - set(others):
                found[number] = self._score_run(number, partial(move, number), shared, streamed=large[number])
                move(number, 1.0)
            for number, scored in zip(others, self._scored_by(workers, shared, others), strict=True):
                found[number] = scored
                move(number, 1.0)
        return [found[number] for number in range(len(self.sources))]

    @contextmanager
    def _elsewhere(self, *, needed: bool) -> Iterator[tuple[Workers | None, SharedPlan | None]]:
        """Give the workers that match runs, where they are needed; they get plan and gold once."""
        if not needed:
            yield None, None
            return
        from focuseval.engine.workers import given  # noqa: PLC0415  most evaluations need none

        with given(self.jobs, self.workers) as workers, workers.share((self.plan, self.prepared)) as shared:
            yield workers, shared

    def _scored_by(
        self, workers: Workers | None, shared: SharedPlan | None, numbers: Sequence[int]
    ) -> Iterator[RunScores]:
        """Yield the scores of runs that other processes match."""
        if workers is None or shared is None:
            return
        some = max(1, min(_AT_ONCE, -(-len(numbers) // (4 * workers.at_once))))
        batches = _batched(numbers, some)
        tasks = ([(number, absolute(self.sources[number])) for number in batch] for batch in batches)
        done = chain.from_iterable(workers.in_order(partial(_score_shared, shared), tasks))
        for number, scored in zip(numbers, done, strict=True):
            yield _renamed(scored, self.sources[number])

    def _score_run(
        self, number: int, move: Callable[[float], None], shared: SharedPlan | None, *, streamed: bool
    ) -> RunScores:
        """Match one run and compute every measure on it; a large one a block of topics at a time."""
        source = self.sources[number]
        if streamed:
            from focuseval.evaluation.streaming import score_stream  # noqa: PLC0415  only large runs need it

            gathered = score_stream(source, self, move, shared if self.workers is not None else None)
            if gathered is not None:
                return gathered
        return self.score(source, number)

    def score(self, source: Any, number: int | None = None) -> RunScores:
        """Compute every measure on a run, or on a block of one."""
        plan, gold = self.plan, self.prepared.gold
        if not len(gold.passages.topic) and any(asked.needs == ("spans",) for asked in plan.measures):
            _ = self.prepared.highlights  # refused for want of passages, before anybody asks for an index
        matched = self._matched(source, number)
        refuse_invalid(matched.run, plan.task, cutoff=plan.policies.cutoff)
        if plan.task in {"focused", "relevant-in-context"} and matched.run.start is not None:
            _ = matched.places  # their rules look at places: results without text are counted, whatever the measures
        values = np.empty((matched.topics, len(plan.measures)))
        for column, asked in enumerate(plan.measures):
            values[:, column] = _computed(asked, matched, plan)
        if plan.policies.missing == "skip":
            values[~matched.answered] = np.nan
        _refuse_strangers(matched, gold)
        run = matched.run
        unknown = 0 if run.topics == gold.topics else len(set(run.topics) - set(gold.topics))
        remarks = tuple(noticed(matched, values, plan))
        return RunScores(run.run_id, run.file, values, counted(matched), unknown, len(matched), remarks)


def _renamed(scored: RunScores, source: Any) -> RunScores:
    """Return scores that name their file as the caller does: workers know it by its whole path."""
    whole = absolute(source)
    if whole == source or not isinstance(whole, str):
        return scored
    given = fspath(source)
    remarks = tuple(remark.replace(whole, given) for remark in scored.remarks)
    return replace(scored, file=given, remarks=remarks)


def _batched(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (numbers[first : first + size] for first in range(0, len(numbers), size))


def _score_shared(shared: SharedPlan, sources: Sequence[tuple[int, Any]]) -> list[RunScores]:
    """Score some runs, by number, under a plan and against a gold that were laid down for all of them."""
    evaluation = Evaluation(*shared.get(), ())
    return [evaluation.score(source, number) for number, source in sources]


def _size(run: Run) -> int:
    """Return about how many bytes a run holds."""
    columns = (run.topic, run.document, run.rank, run.score, run.start, run.end, run.path, run.end_path, run.text)
    return sum(int(column.nbytes) for column in columns if column is not None)


def _computed(asked: MeasureCall, matched: Matched, plan: Plan) -> NDArray[np.float64]:
    """Return a measure's values, one for each topic; a user's own measure may make another shape of them."""
    values = np.asarray(asked.measure.compute(matched, **asked.arguments(plan.policies)), np.float64)
    if values.shape != (matched.topics,):
        raise MeasureError(
            f"{asked.key}: expected a number for each of {matched.topics} topics, found a shape of {values.shape}"
        )
    return values


def _refuse_strangers(matched: Matched, gold: Gold) -> None:
    """Refuse a run that shares no document with the gold."""
    if len(matched) and matched.unjudged == len(matched) and not shares_documents(matched):
        where = matched.run.file or matched.run.run_id
        named = next(filter(None, matched.run.document.to_pylist()), None)
        if named is None:
            raise NotComparableError(
                f"{where}: none of its texts was found in one document of the collection; check that these are the "
                "documents that it was made from"
            )
        raise NotComparableError(
            f"{where}: no document in common with {gold.file or 'the gold'}: the run has {named!r}, the gold "
            f"{gold.documents[0].as_py()!r}; check that both name documents in the same way (an index or --docs "
            "translates between ids)"
        )


def _collected(made: Evaluation, scored: Sequence[RunScores]) -> Scores:
    """Put the values of all runs together."""
    prepared, plan = made.prepared, made.plan
    excluded = len(prepared.gold.topics) - len(prepared.topics)
    shape = (len(scored), len(prepared.topics))
    return Scores(
        runs=tuple(s.run for s in scored),
        topics=prepared.topics,
        measures=tuple(asked.key for asked in plan.measures),
        values=np.array([s.values for s in scored]).reshape(*shape, len(plan.measures)),
        counts=tuple(total(s.counts, excluded=excluded, unknown=s.unknown) for s in scored),
        signature=signature(plan, prepared),
        profile=plan.profile,
        task=plan.task,
        files=tuple(s.file for s in scored),
        gold_sha256=prepared.gold.sha256,
        docs_sha256=None if prepared.index is None else prepared.index.sha256 or None,
        by_topic=np.array([s.counts for s in scored]).reshape(*shape, -1) if scored else None,
        tags=tags_of(prepared.gold),
        decides=plan.decides,
        noticed=(
            *other_names(plan.measures),
            *of_gold(prepared.gold, plan.measures),
            *(remark for s in scored for remark in s.remarks),
        ),
        evaluation=made,
    )
