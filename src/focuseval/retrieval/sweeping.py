"""Sweep: cut, retrieve and score for every chunking and every retriever, to find which serves best.

`focuseval.retrieval.swept` has what is found: scores, cost and verdicts, as tables, JSON and a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, nan
from pathlib import Path
from typing import Any

import numpy as np

from focuseval.collection.boundaries import boundaries, texts_of
from focuseval.collection.chunks import Chunks, Extent, extent, parse_spec
from focuseval.collection.index import Index
from focuseval.collection.tokens import Tokenizer, remembered
from focuseval.data.gold import Gold
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.engine.workers import Workers, given
from focuseval.errors import MissingDataError, UsageError, counted
from focuseval.evaluation.evaluation import plan_evaluation
from focuseval.evaluation.sources import as_gold, read
from focuseval.formats.chunks import chunk
from focuseval.formats.embedded import open_documents
from focuseval.inference.clusters import By
from focuseval.inference.settings import Settings
from focuseval.measures import Measure, MeasureCall, parse
from focuseval.measures.measure import Budget
from focuseval.measures.profiles import DEFAULTS
from focuseval.measures.tasks import MOST_RESULTS
from focuseval.retrieval.retrieving import MadeRun, Means, UnitList, added_retriever, retrieved, split_options, units
from focuseval.retrieval.settings import RETRIEVERS
from focuseval.retrieval.swept import Sweep

Retriever = Callable[[UnitList, Mapping[str, str]], Run]

BM25, *BY_MEANING = RETRIEVERS
MEASURES = ("spanR@2000c", "spanR@1000c", "spanR@4000c", "IoU@2000c")
IN_TOKENS = ("spanR@500t", "spanR@250t", "spanR@1000t", "IoU@500t")
"""What is measured by default; the first decides. The second with a tokenizer."""

CEILINGS = ("ceiling(spanR)", "ceiling(IoU)")  # what is always measured


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
    clusters: By | None = None,
    jobs: int = 1,
    workers: Workers | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> Sweep:
    """Compare chunkings and retrievers: cut the documents, retrieve, score, and judge every pair against the best.

    Parameters
    ----------
    gold, docs
        As for `focuseval.evaluate`.
    chunks
        How to cut, one or more: each whatever `focuseval.chunk` takes.
    retriever
        One or more of ``"bm25"``, ``"dense"``, ``"hybrid"`` and what other packages add: every chunking is retrieved
        by each, and by every ``embedder``. Or a run for every chunking, in their order; or a function of the units of a
        chunking (as `focuseval.units` gives them) and the questions by topic, which returns a run:
        ``units.run(scores)``.
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
    clusters
        What topics are clustered by, as in `Scores.compare`.
    jobs, workers
        Processes that cut and retrieve, a chunking each; or other workers, such as those of `focuseval.connected`.
    progress
        Called with the number of chunkings done, their number, and the name of the next.
    options
        Of `focuseval.retrieve`: ``language``, ``k1``, ``b`` …; ``limit`` is what the largest budget needs. ``embedder``
        may be a list of them.

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
    edges = None if tokenizer is None else boundaries(map(tokenizer.spans, texts_of(index)))
    usual = DEFAULTS["documents"] if gold.scale == "trec" else MEASURES if tokenizer is None else IN_TOKENS
    asked = (*(measures or usual), *(() if gold.scale == "trec" else CEILINGS))
    embedders = options.pop("embedder", None)
    embedders = list(embedders) if isinstance(embedders, (list, tuple)) else [embedders]
    ways = named_ways(retriever, embedders)
    function = retriever if callable(retriever) else None
    own = _runs(retriever, len(chunks)) if ways is None and function is None else []
    for embedder in [embedder for _, way, embedder in ways or () if way in BY_MEANING]:
        split_options({**options, "embedder": embedder})[1].check()  # before anything takes time
    questions = topics if own or topics is not None else _questions(gold)

    def cut_and_retrieve(number: int, how: Any) -> tuple[Chunks, Extent, list[MadeRun]]:
        by_meaning = split_options({**options, "embedder": embedders[0]})[1]
        cut = chunk(index, how, tokenizer=tokenizer, embed=by_meaning.texts_to_vectors())
        text = extent(cut, index, edges)
        wanted = {"limit": enough_results(asked, text.mean), **options}
        if own:
            return cut, text, [MadeRun(_own(own[number], index, cut), "runs that were given", nan)]
        if function is not None:
            run = function(units(index, chunks=cut, **split_options(wanted)[0]), questions)
            return cut, text, [MadeRun(run, f"the function {getattr(function, '__name__', 'without a name')}", nan)]
        found = [
            retrieved(index, questions, Means(chunks=cut), retriever=way, embedder=embedder, **wanted)
            for _, way, embedder in ways or ()
        ]
        return cut, text, found

    names = [name for name, _, _ in ways or ()]
    names = names if names not in ([], [BM25]) else [""]
    rows, noticed = list[tuple[Chunks, Extent, MadeRun]](), list[Remark]()
    with given(jobs, workers) as crew, crew.share(cut_and_retrieve) as shared:
        work = lambda task: shared.get()(*task)  # noqa: E731  what is shared is sent once, not with every task
        for number, (cut, text, found) in enumerate(crew.in_order(work, _announced(chunks, progress))):
            for name, one in zip(names, found, strict=True):
                noticed += one.run.remarks  # the same of every chunking, mostly
                chunking = cut.name or f"chunking {number + 1}"
                run = replace(one.run, run_id=f"{chunking} with {name}" if name else chunking, remarks=())
                rows.append((cut, text, one._replace(run=run)))
    every, extents, made_by = zip(*rows, strict=True)
    runs, measures = [one.run for one in made_by], list(dict.fromkeys(asked))
    made = plan_evaluation(gold, runs, measures, task="spans", index=index, chunks=every, tokenizer=tokenizer)
    said = "; ".join(dict.fromkeys(one.settings for one in made_by))
    made = replace(made, plan=replace(made.plan, retriever=said))
    remarks = (*dict.fromkeys(map(str, noticed)), *(said for cut in every for said in cut.remarks))
    levels = tuple(names * len(chunks))
    return Sweep(made, every, extents, settings or Settings(), remarks, clusters, made_by, levels)


def _runs(retriever: Any, chunkings: int) -> list[Any]:
    """Return the runs of the caller, one for each chunking."""
    given = [retriever] if isinstance(retriever, (str, Run)) else list(retriever)
    if len(given) != chunkings:
        what = f"expected {', '.join(RETRIEVERS)}, or a run for each of the {chunkings} chunkings in their order"
        raise UsageError(f"{what}, found {len(given)}; give as many runs as chunkings")
    return given


def _announced(chunks: Sequence[Any], progress: Callable[[int, int, str], None] | None) -> Iterator[tuple[int, Any]]:
    """Yield every chunking with its number, after saying that it is next."""
    for number, how in enumerate(chunks):
        if progress:
            progress(number, len(chunks), how if isinstance(how, str) else type(how).__name__)
        yield number, how


def named_ways(retriever: Any, embedders: Sequence[Any]) -> list[tuple[str, str, Any]] | None:
    """Return the ways to retrieve, each retriever with every embedder, and their names; None where it is no name.

    >>> [name for name, _, _ in named_ways(["bm25", "dense"], ["http://h/v1#a", "model2vec:b"])]
    ['bm25', 'dense by a', 'dense by b']
    """
    names = [retriever] if isinstance(retriever, str) else [] if callable(retriever) else list(retriever)
    known = [isinstance(name, str) and (name in RETRIEVERS or added_retriever(name) is not None) for name in names]
    if not any(known):
        return None
    if not all(known):
        other = next(name for name, there in zip(names, known, strict=True) if not there)
        what = f"expected names of retrievers or runs, found both ({other!r})"
        raise UsageError(f"{what}; give {', '.join(RETRIEVERS)} alone, or a run for each chunking")
    found = []
    for name in dict.fromkeys(names):
        for one in embedders if name in BY_MEANING else [None]:
            by = "a function"
            if isinstance(one, str):
                by = one.rpartition("#")[2].rpartition(":")[2].rstrip("/").rpartition("/")[2]
            found.append((f"{name} by {by}" if name in BY_MEANING and len(embedders) > 1 else name, name, one))
    return found


def _questions(gold: Gold) -> dict[str, str]:
    """Return the questions of a gold by topic; one without any is refused."""
    questions = {topic: gold.queries[topic] for topic in gold.topics if gold.queries.get(topic, "").strip()}
    if not questions:
        what = f"{gold.file or 'the gold'}: no topic has a question to retrieve for"
        raise MissingDataError(f"{what}; give topics=")
    return questions


def enough_results(measures: Sequence[str | MeasureCall | Measure], size: float) -> int:
    """Return how many results the measures can look at: those of the largest rank, or twice those of a budget.

    Chunks are so many characters long on average. There are never fewer than a hundred, and as many as a run may have
    where a measure looks at all of them.

    >>> [enough_results([name], 40) for name in ("IoU@5", "spanR@4000c", "spanRR")]
    [100, 200, 1500]
    """
    wanted, lengths = 100, {"characters": 1, "words": 8, "tokens": 6}  # rather too long than too short
    for named in measures:
        one = parse(named) if isinstance(named, str) else named
        at = one.arguments().get("at") if isinstance(one, MeasureCall) else None
        if isinstance(at, Budget):
            wanted = max(wanted, ceil(2 * at.amount * lengths[at.unit] / max(size, 1)))
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
