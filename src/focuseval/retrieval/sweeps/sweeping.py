"""Cut, retrieve, score: once for every chunking, against the same gold and under the same measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.boundaries import boundaries, texts_of
from focuseval.collection.chunks import Chunks, extent, parse_spec
from focuseval.collection.tokens import remembered
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.engine.workers import given as given_workers
from focuseval.errors import MissingDataError, UsageError, counted
from focuseval.evaluation.planning import plan_evaluation
from focuseval.evaluation.sources import as_gold, read
from focuseval.formats.chunks import chunk
from focuseval.formats.embedded import open_documents
from focuseval.inference.settings import Settings
from focuseval.measures import MeasureCall, parse
from focuseval.measures.measure import Budget
from focuseval.measures.tasks.tasks import MOST_RESULTS
from focuseval.retrieval.retrieving import retrieve
from focuseval.retrieval.sweeps.result import Sweep
from focuseval.retrieval.unit_list import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from focuseval.collection.index import Index
    from focuseval.collection.tokens import Tokenizer
    from focuseval.engine.workers import Shared, Workers
    from focuseval.measures import Measure
    from focuseval.retrieval.unit_list import UnitList

    Retriever = Callable[[UnitList, Mapping[str, str]], Run]

BM25 = "bm25"
MEASURES = ("spanR@2000c", "spanR@1000c", "spanR@4000c", "IoU@2000c")
IN_TOKENS = ("spanR@500t", "spanR@250t", "spanR@1000t", "IoU@500t")
"""What is measured by default; the first decides. The second with a tokenizer."""

_LENGTHS = {"characters": 1, "words": 8, "tokens": 6}
"""Characters of what a budget counts, rather too many than too few."""

CEILINGS = ("ceiling(spanR)", "ceiling(IoU)")
"""What is always measured."""


def sweep(
    gold: Any,
    docs: Any,
    chunks: Sequence[Any],
    retriever: str | Retriever | Sequence[Any] = BM25,
    measures: Sequence[str | MeasureCall | Measure] = (),
    *,
    topics: Any = None,
    tokenizer: str | Tokenizer | None = None,
    settings: Settings | None = None,
    workers: Workers | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> Sweep:
    """Compare chunkings: cut the documents, retrieve, score, and judge every chunking against the best.

    Parameters
    ----------
    gold, docs
        As for `focuseval.evaluate`.
    chunks
        How to cut, one or more: each whatever `focuseval.chunk` takes.
    retriever
        ``"bm25"``; or a run for every chunking, in their order; or a function of the units of a chunking
        (`focuseval.retrieval.UnitList`) and the questions by topic, which returns a run: ``units.run(scores)``.
    measures
        By default recall after 1,000, 2,000 and 4,000 characters (or 250, 500 and 1,000 tokens) and IoU; the first
        decides. Ceilings are always added.
    topics
        The questions, where the gold does not hold them: topics, a topic file, or a mapping from ids to questions.
    tokenizer
        ``tiktoken:NAME``, ``tokenizers:FILE`` or a `focuseval.collection.tokens.Tokenizer`: then cost and budgets are
        in tokens.
    settings
        How differences are judged; by default two-tailed randomisation with Holm's correction.
    workers
        Workers that cut and retrieve, a chunking each, such as those of `focuseval.connected`.
    progress
        Called with the number of chunkings done, their number, and the name of the next.
    options
        Of `focuseval.retrieve`: ``language``, ``k1``, ``b`` …; ``limit`` is what the largest budget needs.

    >>> texts = {"tea": "Boil the water. Black tea draws for four minutes. Pour the water away."}
    >>> gold = [{"topic": "q", "query": "How long does black tea draw?", "doc": "tea", "start": 16, "end": 49}]
    >>> found = sweep(gold, texts, ["sentences:1", "characters:30"], measures=["IoU@1"])
    >>> found.best, found.scores.mean[:, 0].round(3).tolist()
    ('sentences:1', [1.0, 0.286])
    """
    index = open_documents(docs)
    gold, tokenizer = as_gold(gold, index), None if tokenizer is None else remembered(tokenizer)
    if not chunks:
        raise UsageError("expected at least one way to cut documents, found none; characters:400, for instance")
    for how in chunks:
        if isinstance(how, str) and not Path(how).is_file():
            parse_spec(how)  # before anything takes time
    edges = None if tokenizer is None else boundaries(texts_of(index), tokenizer.spans)
    asked = (*(measures or (MEASURES if tokenizer is None else IN_TOKENS)), *CEILINGS)
    given: Sequence[Any] = ()
    if retriever != BM25 and not callable(retriever):
        given = [retriever] if isinstance(retriever, (str, Run)) else list(retriever)
        if len(given) != len(chunks):
            what = (
                f"expected {BM25}, or a run for each of the {len(chunks)} chunkings in their order, found {len(given)}"
            )
            raise UsageError(f"{what}; give as many runs as chunkings")
    questions = topics
    if not given and topics is None:
        questions = {topic: gold.queries[topic] for topic in gold.topics if gold.queries.get(topic, "").strip()}
        if not questions:
            where = gold.file or "the gold"
            raise MissingDataError(
                f"{where}: no topic has a question to retrieve for; give the questions with --topics"
            )
    every, runs, extents, noticed = [], [], [], list[Remark]()
    task = _Chunking(index, tokenizer, edges, asked, given, questions, retriever, options)
    with given_workers(1, workers) as crew, crew.share(task) as shared:
        for cut, text, run in crew.in_order(partial(_cut_and_retrieved, shared), _announced(chunks, progress)):
            every.append(cut)
            noticed += run.remarks  # the same of every chunking, mostly
            runs.append(replace(run, run_id=cut.name or f"chunking {len(every)}", remarks=()))
            extents.append(text)
    made = plan_evaluation(
        gold, runs, list(dict.fromkeys(asked)), task="spans", index=index, chunks=every, tokenizer=tokenizer
    )
    return Sweep(made, tuple(every), tuple(extents), settings or Settings(), tuple(dict.fromkeys(map(str, noticed))))


@dataclass(frozen=True, eq=False)
class _Chunking:
    """What cutting and retrieving needs, whatever the chunking."""

    index: Index
    tokenizer: Tokenizer | None
    edges: Any
    """Where tokens end in the documents, for their cost; None without a tokenizer."""
    asked: Sequence[str | MeasureCall | Measure]
    given: Sequence[Any]
    questions: Any
    retriever: Any
    options: Mapping[str, Any]


def _announced(chunks: Sequence[Any], progress: Callable[[int, int, str], None] | None) -> Iterator[tuple[int, Any]]:
    """Yield every chunking with its number, after saying that it is next."""
    for number, how in enumerate(chunks):
        if progress:
            progress(number, len(chunks), how if isinstance(how, str) else type(how).__name__)
        yield number, how


def _cut_and_retrieved(shared: Shared[_Chunking], task: tuple[int, Any]) -> tuple[Chunks, Any, Run]:
    """Return one chunking, its extent, and its run."""
    (number, how), s = task, shared.get()
    cut = chunk(s.index, how, tokenizer=s.tokenizer)
    text = extent(cut, s.index, s.edges)
    wanted = {"limit": enough_results(s.asked, text.mean), **s.options}
    if s.given:
        return cut, text, _own(s.given[number], s.index, cut)
    if not callable(s.retriever):
        return cut, text, retrieve(s.index, s.questions, chunks=cut, **wanted)
    return cut, text, s.retriever(units(s.index, chunks=cut, **wanted), s.questions)


def enough_results(measures: Sequence[str | MeasureCall | Measure], size: float) -> int:
    """Return how many results the measures can look at: those of the largest rank, or twice those of a budget.

    Chunks are so many characters long on average. There are never fewer than a hundred, and as many as a run may have
    where a measure looks at all of them.

    >>> [enough_results([name], 40) for name in ("IoU@5", "spanR@4000c", "spanRR")]
    [100, 200, 1500]
    """
    wanted = 100
    for named in measures:
        one = parse(named) if isinstance(named, str) else named
        at = one.arguments().get("at") if isinstance(one, MeasureCall) else None
        if isinstance(at, Budget):
            wanted = max(wanted, ceil(2 * at.amount * _LENGTHS[at.unit] / max(size, 1)))
        elif isinstance(at, int):
            wanted = max(wanted, at)
        elif not (isinstance(one, MeasureCall) and one.measure.name == "ceiling"):  # which looks at no result
            return MOST_RESULTS
    return min(wanted, MOST_RESULTS)


def _own(source: Any, index: Index, cut: Chunks) -> Run:
    """Return a run of the caller; results that are none of the chunks are remarked upon."""
    run = read(source, None, index)
    if run.start is None or run.end is None:
        raise MissingDataError(f"{run.file or run.run_id}: results need a place in their document to be compared")
    rows = np.stack([index.find(run.document).astype(np.int64), run.start, run.end], axis=1)
    known = set(map(tuple, np.stack([cut.rows(index), cut.start, cut.end], axis=1).tolist()))
    others = sum(tuple(row) not in known for row in rows.tolist())
    if not others:
        return run
    remark = Remark("other chunks", others, (counted(len(run), "result"), cut.name))
    return replace(run, remarks=(*run.remarks, remark))
