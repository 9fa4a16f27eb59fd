"""One evaluation: plan, prepared gold, matches, and the scores that are their values.

Everything that explains a score reads the `Evaluation` behind it: curves, the report, heat maps, repairs. A run is
matched once, when somebody first asks; its match is kept while all matches together are small, else let go and made
again if it is asked for again. So a campaign of any number of runs keeps values only.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.errors import MissingDataError
from focuseval.evaluation.counts import total
from focuseval.evaluation.curves import curve_of, long_table
from focuseval.evaluation.score_file import signature
from focuseval.evaluation.scores import Scores
from focuseval.evaluation.scoring import RunScores, match_source, remarks_on_gold, remarks_on_names, score_match
from focuseval.evaluation.sources import absolute
from focuseval.formats.files import streamed_format
from focuseval.placing import place_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from focuseval.data.run import Run
    from focuseval.engine.workers import Shared, Workers
    from focuseval.evaluation.plan import Plan
    from focuseval.measures import Measure
    from focuseval.measures.matching import Matched, Prepared

    SharedPlan = Shared[tuple[Plan, Prepared]]

_AT_ONCE = 16
"""Runs that a process is given at once, at most: a small run takes about as long as handing it out."""

KEPT = 1 << 28
"""Bytes of runs whose matches are kept."""


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
    names: tuple[str, ...] = ()
    """Names of the runs, where they have other ones than their own."""
    _matches: dict[int, Matched] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @cached_property
    def scores(self) -> Scores:
        """Every run's values."""
        scored = self._score_all()
        prepared, plan = self.prepared, self.plan
        tags = {topic: attributes.get("tags", "") for topic, attributes in prepared.gold.attributes.items()}
        excluded = len(prepared.gold.topics) - len(prepared.topics)
        shape = (len(scored), len(prepared.topics))
        return Scores(
            runs=self.names or tuple(s.run for s in scored),
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
            tags={topic: tuple(filter(None, own.split(","))) for topic, own in tags.items() if own},
            decides=plan.decides,
            noticed=(
                *remarks_on_names(plan.measures),
                *remarks_on_gold(prepared.gold, plan.measures),
                *(remark for s in scored for remark in s.remarks),
            ),
            evaluation=self,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for every run."""
        return self.scores.names

    def matched(self, number: int) -> Matched:
        """Return the match of one run, made when it is first asked for."""
        with self._lock:
            known = self._matches.get(number)
        return self._match(number) if known is None else known

    def _match(self, number: int) -> Matched:
        """Read a run and match it; keep the match while all of them together are small."""
        matched = match_source(self.sources[number], self.plan, self.prepared, number)
        with self._lock:
            if sum(_size(one.run) for one in self._matches.values()) + _size(matched.run) <= KEPT:
                self._matches[number] = matched
        return matched

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
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
        with self._elsewhere(needed=bool(others) or self.workers is not None) as elsewhere:
            for number in set(range(len(self.sources))) - set(others):
                found[number] = self._score_here(number, partial(move, number), elsewhere, streamed=large[number])
                move(number, 1.0)
            for number, scored in zip(others, self._score_elsewhere(elsewhere, others), strict=True):
                found[number] = scored
                move(number, 1.0)
        return [found[number] for number in range(len(self.sources))]

    @contextmanager
    def _elsewhere(self, *, needed: bool) -> Iterator[tuple[Workers, SharedPlan] | None]:
        """Give the workers that match runs, where they are needed; they get plan and gold once."""
        if not needed:
            yield None
            return
        from focuseval.engine.workers import given  # noqa: PLC0415  most evaluations need none

        with given(self.jobs, self.workers) as workers, workers.share((self.plan, self.prepared)) as shared:
            yield workers, shared

    def _score_elsewhere(
        self, elsewhere: tuple[Workers, SharedPlan] | None, numbers: Sequence[int]
    ) -> Iterator[RunScores]:
        """Yield the scores of runs that other processes match, with their files named as the caller does."""
        if elsewhere is None:
            return
        workers, shared = elsewhere
        size = max(1, min(_AT_ONCE, -(-len(numbers) // (4 * workers.at_once))))
        batches = (numbers[first : first + size] for first in range(0, len(numbers), size))
        tasks = ([(number, absolute(self.sources[number])) for number in batch] for batch in batches)
        done = chain.from_iterable(workers.in_order(partial(_score_shared, shared), tasks))
        for number, scored in zip(numbers, done, strict=True):
            source = self.sources[number]
            whole = absolute(source)
            if whole != source and isinstance(whole, str):
                given = fspath(source)
                own = (replace(one, file=given) if one.file == whole else one for one in scored.remarks)
                yield replace(scored, file=given, remarks=tuple(own))
            else:
                yield scored

    def _score_here(
        self,
        number: int,
        move: Callable[[float], None],
        elsewhere: tuple[Workers, SharedPlan] | None,
        *,
        streamed: bool,
    ) -> RunScores:
        """Match one run and compute every measure on it; a large one a block of topics at a time."""
        if streamed:
            from focuseval.evaluation.streaming import score_stream  # noqa: PLC0415  only large runs need it

            with_workers = elsewhere if self.workers is not None else None
            gathered = score_stream(self.sources[number], self.plan, self.prepared, move, with_workers)
            if gathered is not None:
                return gathered
        return score_match(self._match(number), self.plan)


def _score_shared(shared: SharedPlan, sources: Sequence[tuple[int, Any]]) -> list[RunScores]:
    """Score some runs, by number, under a plan and against a gold that were laid down for all of them."""
    plan, prepared = shared.get()
    return [score_match(match_source(source, plan, prepared, number), plan) for number, source in sources]


def _size(run: Run) -> int:
    """Return about how many bytes a run holds."""
    columns = (run.topic, run.document, run.rank, run.score, run.start, run.end, run.path, run.end_path, run.text)
    return sum(int(column.nbytes) for column in columns if column is not None)
