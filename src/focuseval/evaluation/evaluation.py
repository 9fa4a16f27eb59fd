"""`evaluate`, and one evaluation: plan, prepared gold, matches, and the scores that are their values.

Everything that explains a score reads the `Evaluation` behind it: curves, the report, heat maps, repairs. A run is
matched once, when somebody first asks; its match is kept while all matches together are small, else let go and made
again if it is asked for again. So a campaign of any number of runs keeps values only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.placement import repairs_of
from focuseval.data.run import Run
from focuseval.engine.storage import location
from focuseval.engine.workers import Shared, Workers
from focuseval.errors import MeasureError, MissingDataError
from focuseval.evaluation.counts import BY_TOPIC, total
from focuseval.evaluation.plan import Plan, plan_for, tokenizer_for
from focuseval.evaluation.scores import Scores, over_trials
from focuseval.evaluation.scoring import (
    RunScores,
    curve_names,
    curve_of,
    match_source,
    mean_of,
    remarks_on_gold,
    score_match,
)
from focuseval.evaluation.sources import as_gold, as_index, named_runs, queries_of, read, strict_gold
from focuseval.formats.files import ahead, streamed_format
from focuseval.formats.ranking import in_order
from focuseval.measures import Measure, MeasureCall, parse
from focuseval.measures.matching import Matched
from focuseval.measures.prepared import Prepared, prepare
from focuseval.placing import place_run

if TYPE_CHECKING:
    SharedPlan = Shared[tuple[Plan, Prepared]]

_AT_ONCE = 16  # runs that a process is given at once, at most: a small run takes about as long as handing it out

KEPT = 1 << 28  # bytes of runs whose matches are kept


def evaluate(
    gold: Any,
    runs: Any,
    measures: Iterable[str | MeasureCall | Measure] | None = None,
    *,
    task: str | None = None,
    profile: str | None = None,
    index: Any = None,
    docs: Any = None,
    topics: Any = None,
    chunks: Any = None,
    jobs: int = 1,
    workers: Workers | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> Scores:
    """Score runs against a gold.

    Parameters
    ----------
    gold
        What was judged: a gold, a path or a frame.
    runs
        A run, a frame, a path, what a retriever returned (``{topic: [Document, …]}``), or several of them; with names,
        ``{"bm25": path_or_frame}``; several trials of a system as ``{"sampled": [run, run]}``, of which the mean is
        scored. Paths are read one at a time, so that a campaign of any size fits into memory.
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
        All chunks of the chunker, or a list with those of every run, for `ceiling`; by default those that occur in the
        run.
    jobs
        How many processes score runs; 1 for this one alone. A large file is read by all cores in any case.
    workers
        Other workers in place of processes, such as those of `focuseval.connected`; large files, too, are then
        read by them, a block of topics at a time.
    progress
        Called with the share of the work that is done, whenever it has grown; maybe from several threads.
    policies
        Changes of single policies: ``missing="skip"``, ``empty_topics="zero"``, ``cutoff=1000`` …; and
        ``tokenizer="tiktoken:cl100k_base"`` or ``"tokenizers:FILE"``, for budgets of tokens; and words by which an
        answer abstains, ``refusals=["I don't know"]``; and ``order="lower"`` where a run's scores are distances.
    """
    return plan_evaluation(
        gold, runs, measures, task=task, profile=profile, index=index, docs=docs, topics=topics, chunks=chunks,
        jobs=jobs, workers=workers, progress=progress, **policies,
    ).scores  # fmt: skip


def plan_evaluation(gold: Any, runs: Any, measures: Any = None, **choices: Any) -> Evaluation:
    """Plan an evaluation and prepare its gold; parameters are those of `evaluate`. Nothing is scored yet."""
    how = {name: choices.pop(name) for name in ("jobs", "workers", "progress") if name in choices}
    index, docs, topics, chunks, tokenizer, refusals = (
        choices.pop(name, None) for name in ("index", "docs", "topics", "chunks", "tokenizer", "refusals")
    )
    index, asked = as_index(docs if index is None else index), list[MeasureCall]()
    single = isinstance(measures, (str, MeasureCall, Measure)) or callable(measures)
    for one in (measures,) if single else measures or ():
        if not isinstance(one, (str, MeasureCall, Measure)):
            raise MeasureError(f"expected a measure's name or a focuseval.Measure, found a {type(one).__name__}")
        asked.append(MeasureCall(one) if isinstance(one, Measure) else parse(one) if isinstance(one, str) else one)
    given = choices.pop("names", ())
    names, sources = named_runs(runs)
    run_format, order = choices.get("run_format"), choices.get("order")
    # of runs that are read already; files and frames are ranked when they are read
    sources = tuple(in_order(one, order) if order and isinstance(one, Run) else one for one in sources)
    if how.get("workers") is None:
        sources = tuple(ahead(sources, run_format))
    gold = as_gold(gold, index)
    if sources and not asked and choices.get("task") is None and not streamed_format(sources[0], run_format):
        sources = (read(sources[0], run_format, index, order), *sources[1:])  # it may name its task
    first = sources[0] if sources and isinstance(sources[0], Run) else None
    plan = plan_for(gold, first, tuple(asked), **choices)
    strict = {}
    if plan.policies.cas in {"strict", "SV"}:
        strict = queries_of(topics, gold, required=choices.get("cas") is not None)
    if plan.policies.cas == "strict" and not strict:  # a profile reads structure strictly where topics have it
        plan = replace(plan, policies=plan.policies.but(cas="none"))
    tokenizer = tokenizer_for(tokenizer, plan.measures)
    chunks = tuple(chunks) if isinstance(chunks, list) else chunks
    if isinstance(chunks, tuple) and len(chunks) != len(sources):
        what = f"expected the chunks of {len(sources)} runs, found those of {len(chunks)}"
        raise MissingDataError(f"{what}; give one each")
    plan = replace(plan, chunks=chunks, tokenizer=tokenizer, queries=strict, refusals=tuple(refusals or ()))
    prepared = prepare(strict_gold(gold, strict, index) if strict else gold, index)
    if plan.policies.empty_topics == "zero":
        prepared = replace(prepared, all_topics=True)
    prepared = replace(prepared, beside=frozenset(asked.measure.base for asked in plan.measures) - {"relevance"})
    return Evaluation(plan, prepared, sources, names=given or names, **how)


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
    names: tuple[str, ...] = ()  # names of the runs, where they have other ones than their own
    _matches: dict[int, Matched] = field(default_factory=dict, repr=False, compare=False)
    _sizes: list[int] = field(default_factory=list, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @cached_property
    def scores(self) -> Scores:
        """Every run's values."""
        scored, prepared, plan = self._score_all(), self.prepared, self.plan
        tags = {topic: attributes.get("tags", "") for topic, attributes in prepared.gold.attributes.items()}
        excluded = len(prepared.gold.topics) - int(np.count_nonzero(prepared.based("relevance")))
        shape, read_by = (len(scored), len(prepared.topics)), (prepared.gold.origin, *(s.origin for s in scored))
        scores = Scores(
            runs=self.names or tuple(s.run for s in scored),
            topics=prepared.topics,
            measures=tuple(asked.key for asked in plan.measures),
            values=np.array([s.values for s in scored]).reshape(*shape, len(plan.measures)),
            counts=tuple(total(s.counts, excluded=excluded, unknown=s.unknown) for s in scored),
            signature=plan.signature(prepared.gold.scale, prepared.gold.merge, read_by),
            profile=plan.profile,
            task=plan.task,
            files=tuple(s.file for s in scored),
            gold_sha256=prepared.gold.sha256,
            docs_sha256=None if prepared.index is None else prepared.index.sha256 or None,
            bases=tuple(asked.measure.base for asked in plan.measures),
            by_topic=np.array([s.counts for s in scored]).reshape(*shape, len(BY_TOPIC)) if scored else None,
            tags={topic: tuple(filter(None, own.split(","))) for topic, own in tags.items() if own},
            decides=plan.decides,
            geometric=tuple(asked.measure.geometric for asked in plan.measures),
            lower=tuple(asked.measure.lower for asked in plan.measures),
            noticed=(*remarks_on_gold(prepared, plan), *(remark for s in scored for remark in s.remarks)),
            evaluation=self,
        )
        return scores if len(set(self.names)) == len(self.names) else over_trials(scores)

    def matched(self, number: int) -> Matched:
        """Return the match of one run, made when it is first asked for, and kept while all of them are small."""
        known = self._matches.get(number)
        if known is not None:
            return known
        matched = match_source(self.sources[number], self.plan, self.prepared, number)
        with self._lock:
            if sum(self._sizes, size := _size(matched.run)) <= KEPT:
                self._matches[number] = matched
                self._sizes.append(size)
        return matched

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
        name, tables = measure if isinstance(measure, str) else measure.name, []
        for number, run in enumerate(self.scores.names):
            x, y = curve_of(name, self.matched(number), self.plan)
            kept = np.flatnonzero(~np.isnan(y).all(axis=1)).tolist()
            topics = [*(self.prepared.topics[topic] for topic in kept), "mean"]
            columns = {"run": pa.repeat(run, len(topics) * len(x)), "topic": np.repeat(topics, len(x))}
            columns |= {"x": np.tile(x, len(topics)), "y": np.vstack([y[kept], mean_of(y)]).reshape(-1)}
            tables.append(pa.table(columns))
        return pa.concat_tables(tables)

    def repairs(self) -> pa.Table:
        """Return every quote of the gold and text of the runs that is not where it was said to be."""
        placement = self.prepared.gold.placement
        if placement is None:
            where = self.prepared.gold.file or "the gold"
            raise MissingDataError(f"{where}: repairs compare texts with the documents; give docs=")
        runs = (place_run(self.matched(n).run, placement.collection) for n in range(len(self.sources)))
        placements = (placement, *(run.placement for run in runs))
        return repairs_of(one.alignment for one in placements if one is not None)

    def _score_all(self) -> list[RunScores]:
        """Score every run: large files one by one, each with all cores; the others by so many processes."""
        whole = bool(self.prepared.beside)  # a block has topics of one base only
        large = [not whole and streamed_format(source, self.plan.run_format) is not None for source in self.sources]
        done, found = np.zeros(len(large)), dict[int, RunScores]()

        def move(number: int, share: float) -> None:
            done[number] = share
            if self.progress is not None:
                self.progress(float(done.mean()))

        here = self.workers is None and (self.jobs <= 1 or large.count(False) <= 1)
        others = [number for number, streamed in enumerate(large) if not (streamed or here)]
        with ExitStack() as stack:
            workers: tuple[Workers, SharedPlan] | None = None
            if others or self.workers is not None:
                from focuseval.engine.workers import given  # noqa: PLC0415  most evaluations need none

                crew = stack.enter_context(given(self.jobs, self.workers))
                workers = crew, stack.enter_context(crew.share((self.plan, self.prepared)))
            for number in sorted(set(range(len(large))) - set(others)):
                scored = None
                if large[number]:
                    from focuseval.evaluation.streaming import score_stream  # noqa: PLC0415  only large runs need it

                    own = None if self.workers is None else workers
                    scored = score_stream(self.sources[number], self.plan, self.prepared, partial(move, number), own)
                found[number] = score_match(self.matched(number), self.plan) if scored is None else scored
                move(number, 1.0)
            if workers is not None:
                for number, scored in zip(others, self._score_by(*workers, others), strict=True):
                    found[number] = scored
                    move(number, 1.0)
        return [found[number] for number in range(len(large))]

    def _score_by(self, workers: Workers, shared: SharedPlan, numbers: Sequence[int]) -> Iterator[RunScores]:
        """Yield the scores of runs that workers match; they get whole paths, and the caller's own come back."""
        paths = {n: fspath(source) for n in numbers if isinstance(source := self.sources[n], (str, PathLike))}
        whole = {n: str(location(path).absolute()) for n, path in paths.items()}
        size = max(1, min(_AT_ONCE, -(-len(numbers) // (4 * workers.at_once))))
        batches = (numbers[first : first + size] for first in range(0, len(numbers), size))
        tasks = ([(n, whole.get(n, self.sources[n])) for n in batch] for batch in batches)
        done = chain.from_iterable(workers.in_order(partial(_score_shared, shared), tasks))
        for n, scored in zip(numbers, done, strict=True):
            known = scored.remarks if n in paths else ()
            own = tuple(replace(one, file=paths[n]) if one.file == whole[n] else one for one in known)
            yield replace(scored, file=paths[n], remarks=own) if n in paths else scored


def _score_shared(shared: SharedPlan, sources: Sequence[tuple[int, Any]]) -> list[RunScores]:
    """Score some runs, by number, under a plan and against a gold that were laid down for all of them."""
    plan, prepared = shared.get()
    return [score_match(match_source(source, plan, prepared, number), plan) for number, source in sources]


def _size(run: Run) -> int:
    """Return about how many bytes a run holds."""
    columns = (run.topic, run.document, run.rank, run.score, run.start, run.end, run.path, run.end_path, run.text)
    return sum(int(column.nbytes) for column in columns if column is not None)


def curves_csv(scores: Scores) -> bytes:
    """Return the curves of all measures that summarise one, as CSV with a column that names the measure."""
    from pyarrow import csv  # noqa: PLC0415  only this function writes

    tables = dict[str, pa.Table]()
    for name in scores.measures:
        bare, known = name.split("@", maxsplit=1)[0], None
        with suppress(MeasureError):  # another tool's number or a user's own measure is unknown by name
            known = parse(name).measure.curve
        if known is not None and bare not in tables:
            table = scores.curve(name)
            tables[bare] = table.add_column(0, "measure", pa.repeat(bare, len(table)))
    if not tables:
        raise MeasureError(f"none of the measures summarises a curve; these do: {curve_names()}")
    out = pa.BufferOutputStream()
    csv.write_csv(pa.concat_tables(tables.values()), out)
    return bytes(out.getvalue())
