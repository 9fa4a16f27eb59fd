"""The way in: from a gold, runs and measures, as users have them, to a planned evaluation and its scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from focuseval.collection.chunks import Chunks
from focuseval.data.run import Run
from focuseval.errors import MeasureError, MissingDataError
from focuseval.evaluation.evaluation import Evaluation
from focuseval.evaluation.plan import plan_for, tokenizer_for
from focuseval.evaluation.sources import as_gold, as_index, named_runs, queries_of, read, strict_gold
from focuseval.formats.files import ahead, streamed_format
from focuseval.measures import Measure, MeasureCall, parse
from focuseval.measures.matching import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from focuseval.engine.workers import Workers
    from focuseval.evaluation.scores import Scores


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
        ``{"bm25": path_or_frame}``. Paths are read one at a time, so that a campaign of any size fits into memory.
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
        Changes of single policies: ``missing="skip"``, ``cutoff=1000`` …; and ``tokenizer="tiktoken:cl100k_base"`` or
        ``"tokenizers:FILE"``, for budgets of tokens.
    """
    made = plan_evaluation(
        gold, runs, measures, task=task, profile=profile, index=docs if index is None else index, topics=topics,
        chunks=chunks, jobs=jobs, workers=workers, progress=progress, **policies,
    )  # fmt: skip
    return made.scores


def plan_evaluation(
    gold: Any,
    runs: Any,
    measures: Iterable[str | MeasureCall | Measure] | None = None,
    *,
    task: str | None = None,
    profile: str | None = None,
    index: Any = None,
    topics: Any = None,
    chunks: Any = None,
    jobs: int = 1,
    workers: Workers | None = None,
    progress: Callable[[float], None] | None = None,
    **policies: Any,
) -> Evaluation:
    """Plan an evaluation and prepare its gold; parameters are those of `evaluate`. Nothing is scored yet."""
    index, asked = as_index(index), list[MeasureCall]()
    single = isinstance(measures, (str, MeasureCall, Measure)) or callable(measures)
    for one in (measures,) if single else measures or ():
        if not isinstance(one, (str, MeasureCall, Measure)):
            raise MeasureError(f"expected a measure's name or a focuseval.Measure, found a {type(one).__name__}")
        asked.append(MeasureCall(one) if isinstance(one, Measure) else parse(one) if isinstance(one, str) else one)
    tokenizer = policies.pop("tokenizer", None)
    names, sources = named_runs(runs)
    if workers is None:
        sources = tuple(ahead(sources, policies.get("run_format")))
    gold = as_gold(gold, index)
    if sources and not asked and task is None and not streamed_format(sources[0], policies.get("run_format")):
        sources = (read(sources[0], policies.get("run_format"), index), *sources[1:])  # it may name its task
    first = sources[0] if sources and isinstance(sources[0], Run) else None
    plan = plan_for(gold, first, tuple(asked), task=task, profile=profile, changes=policies)
    strict = queries_of(topics, gold) if plan.policies.cas == "strict" else {}
    tokenizer = tokenizer_for(tokenizer, plan.measures)
    if chunks is not None and not isinstance(chunks, Chunks):
        if len(chunks) != len(sources):
            raise MissingDataError(
                f"expected the chunks of {len(sources)} runs, found those of {len(chunks)}; give one each"
            )
        chunks = tuple(chunks)
    plan = replace(plan, chunks=chunks, tokenizer=tokenizer, queries=strict)
    prepared = prepare(strict_gold(gold, strict) if strict else gold, index)
    return Evaluation(plan, prepared, sources, jobs, progress, workers, names)
