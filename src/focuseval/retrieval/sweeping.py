"""Sweep: cut, retrieve and score once for every chunking, against the same gold, to find which serves best.

A `Sweep` holds scores, cost and verdicts against the best chunking, as tables, JSON and a page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.boundaries import boundaries, texts_of
from focuseval.collection.chunks import Chunks, extent, parse_spec
from focuseval.collection.tokens import remembered
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.data.tables import Column, Table, notebook, numbers, render, words
from focuseval.engine.workers import given as given_workers
from focuseval.errors import MissingDataError, UsageError, counted
from focuseval.evaluation.evaluation import plan_evaluation
from focuseval.evaluation.scores import compare_scores, order_of
from focuseval.evaluation.sources import as_gold, read
from focuseval.formats.chunks import chunk
from focuseval.formats.embedded import open_documents
from focuseval.inference.comparison import P_HEADINGS
from focuseval.inference.paired import BETTER, WORSE
from focuseval.inference.sentences import shown_p
from focuseval.inference.settings import Settings
from focuseval.measures import MeasureCall, parse
from focuseval.measures.measure import Budget
from focuseval.measures.profiles import DEFAULTS
from focuseval.measures.tasks import MOST_RESULTS
from focuseval.report.charts.chart import DIGITS, SHAPES, Chart, axis
from focuseval.report.charts.chart import number as rounded
from focuseval.retrieval.retrieving import retrieve, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from focuseval.collection.chunks import Extent
    from focuseval.collection.index import Index
    from focuseval.collection.tokens import Tokenizer
    from focuseval.data.gold import Gold
    from focuseval.engine.workers import Workers
    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.evaluation.scores import Scores
    from focuseval.inference.clusters import By
    from focuseval.inference.comparison import Comparison
    from focuseval.measures import Measure
    from focuseval.report.build import Report
    from focuseval.retrieval.retrieving import UnitList

    Retriever = Callable[[UnitList, Mapping[str, str]], Run]

BM25 = "bm25"
MEASURES = ("spanR@2000c", "spanR@1000c", "spanR@4000c", "IoU@2000c")
IN_TOKENS = ("spanR@500t", "spanR@250t", "spanR@1000t", "IoU@500t")
"""What is measured by default; the first decides. The second with a tokenizer."""

CEILINGS = ("ceiling(spanR)", "ceiling(IoU)")
"""What is always measured."""

LINE, WIDTH = 0.04, 0.3
"""Height and width of a name, as shares of the plot's."""

WORDS = ("cannot tell", "worse", "best", "leads")
"""How a chunking stands: what has the first, second … of the report's colours and shapes."""


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
        (as `focuseval.units` gives them) and the questions by topic, which returns a run: ``units.run(scores)``.
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
    usual = DEFAULTS["documents"] if gold.scale == "trec" else MEASURES if tokenizer is None else IN_TOKENS
    asked = (*(measures or usual), *(() if gold.scale == "trec" else CEILINGS))
    given: Sequence[Any] = ()
    if retriever != BM25 and not callable(retriever):
        given = [retriever] if isinstance(retriever, (str, Run)) else list(retriever)
        if len(given) != len(chunks):
            what = f"expected {BM25}, or a run for each of the {len(chunks)} chunkings in their order"
            raise UsageError(f"{what}, found {len(given)}; give as many runs as chunkings")
    questions = topics if given or topics is not None else _questions(gold)

    def cut_and_retrieve(task: tuple[int, Any]) -> tuple[Chunks, Extent, Run]:
        """Return one chunking, its extent, and its run."""
        number, how = task
        cut = chunk(index, how, tokenizer=tokenizer)
        text = extent(cut, index, edges)
        wanted = {"limit": enough_results(asked, text.mean), **options}
        if given:
            return cut, text, _own(given[number], index, cut)
        if callable(retriever):
            return cut, text, retriever(units(index, chunks=cut, **wanted), questions)
        return cut, text, retrieve(index, questions, chunks=cut, **wanted)

    every, runs, extents, noticed = [], [], [], list[Remark]()
    with given_workers(1, workers) as crew, crew.share(cut_and_retrieve) as shared:
        work = lambda task: shared.get()(task)  # noqa: E731, PLW0108  what is shared is sent once, not with every task
        for cut, text, run in crew.in_order(work, _announced(chunks, progress)):
            every.append(cut)
            noticed += run.remarks  # the same of every chunking, mostly
            runs.append(replace(run, run_id=cut.name or f"chunking {len(every)}", remarks=()))
            extents.append(text)
    made = plan_evaluation(
        gold, runs, list(dict.fromkeys(asked)), task="spans", index=index, chunks=every, tokenizer=tokenizer
    )
    remarks = tuple(dict.fromkeys(map(str, noticed)))
    return Sweep(made, tuple(every), tuple(extents), settings or Settings(), remarks, clusters)


def _questions(gold: Gold) -> dict[str, str]:
    """Return the questions of a gold by topic; one without any is refused."""
    questions = {topic: gold.queries[topic] for topic in gold.topics if gold.queries.get(topic, "").strip()}
    if not questions:
        what = f"{gold.file or 'the gold'}: no topic has a question to retrieve for"
        raise MissingDataError(f"{what}; give topics=")
    return questions


def _announced(chunks: Sequence[Any], progress: Callable[[int, int, str], None] | None) -> Iterator[tuple[int, Any]]:
    """Yield every chunking with its number, after saying that it is next."""
    for number, how in enumerate(chunks):
        if progress:
            progress(number, len(chunks), how if isinstance(how, str) else type(how).__name__)
        yield number, how


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


@dataclass(frozen=True)
class Standing:
    """How a chunking stands against the one with the highest mean under the measure that decides."""

    word: str
    """``best`` where all others are worse, else ``leads``; of the others ``worse`` or ``cannot tell``."""
    reason: str = ""
    """Why no outcome could be significant, where that is so."""
    difference: float | None = None
    """The best one's mean less its own."""
    p: float | None = None
    """Corrected for all pairs."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Chunkings, evaluated on the same questions; the columns of all tuples are in the order given."""

    evaluation: Evaluation
    chunks: tuple[Chunks, ...]
    extents: tuple[Extent, ...]
    settings: Settings
    noticed: tuple[str, ...] = ()
    """What was noticed while the runs were made."""
    clusters: By | None = None
    """What topics are clustered by, if by anything."""

    @property
    def scores(self) -> Scores:
        """Every chunking's values, with the chunking as the run."""
        return self.evaluation.scores

    @property
    def names(self) -> tuple[str, ...]:
        """The chunkings."""
        return self.scores.names

    @property
    def measure(self) -> str:
        """The measure that decides: the first."""
        return self.scores.measures[0]

    @cached_property
    def order(self) -> list[int]:
        """The chunkings, best first."""
        return list(order_of(self.scores).tolist())

    @property
    def best(self) -> str:
        """The chunking with the highest mean."""
        return self.names[self.order[0]]

    @cached_property
    def comparison(self) -> Comparison:
        """Every pair of chunkings; its runs are in `order`.

        The correction is over all pairs: which one is best is seen in the same numbers, so any pair could have been one
        with the best.
        """
        return compare_scores(self.scores, self.measure, self.settings, clusters=self.clusters)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """How each chunking stands."""
        c, found = self.comparison, dict[int, Standing]()
        for place, number in enumerate(self.order):
            if place == 0:
                found[number] = Standing("best" if len(c.groups[0]) == 1 else "leads")
            else:
                pair = c.against(0, place)
                word = WORSE if pair.word == BETTER else pair.word
                found[number] = Standing(word, pair.reason, pair.difference, pair.corrected)
        return tuple(found[number] for number in range(len(self.names)))

    @property
    def cheapest(self) -> str:
        """The chunking with the least text to index among those that cannot be told from the best."""
        level = [self.order[place] for place in self.comparison.groups[0]]
        return self.names[min(level, key=lambda number: self.extents[number].characters)]

    def sentence(self) -> str:
        """Say which chunking is best, or which cannot be told from it, and which of these costs least."""
        c, cheap = self.comparison, self.cheapest
        lines = [c.conclusion("chunking").headline]
        if len(self.names) == 1:
            return lines[0]
        lines.append(f"The highest mean {c.measure} is {c.means[0]:.4f} over {counted(len(c.topics), 'topic')}.")
        if len(c.groups[0]) > 1:
            text = self.extents[self.names.index(cheap)]
            cost = f"({counted(text.chunks, 'chunk')}, {text.times:.2f} × the text)"
            lines.append(f"Of those that cannot be told apart, {cheap} indexes the least text {cost}.")
        return " ".join(lines)

    def table(self) -> Table:
        """Return a row for every chunking, best first: measures, ceilings, cost, and how it stands."""
        tokens = self.extents[0].tokens is not None
        columns = (
            *words("chunking", "against the best"),
            *numbers(P_HEADINGS.get(self.settings.correction, "p")),
            *words("rank"),
            *(Column(name, best=not name.startswith("ceiling")) for name in self.scores.measures),
            *numbers("chunks", "characters", "× text", form=".2f"),
            *(numbers("tokens") if tokens else ()),
        )
        rows = []
        for place, number in enumerate(self.order):
            text, stands = self.extents[number], self.standings[number]
            p = "" if stands.p is None else shown_p(stands.p, self.settings)
            cost = (text.chunks, text.characters, text.times, *((text.tokens,) if tokens else ()))
            rank = self.comparison.standing(place)
            rows.append((self.names[number], stands.word, p, rank, *self.scores.mean[number].tolist(), *cost))
        lines = [self.sentence(), *([self.comparison.sentence()] if len(rows) > 1 else [])]
        lines.append(f"{self.comparison.method}; {counted(len(self.comparison.topics), 'topic')}.")
        lines += self.comparison.remarks()
        for name, text in zip(self.names, self.extents, strict=True):
            if text.left_out:
                lines.append(f"{name}: {counted(text.left_out, 'character')} in no chunk.")
        return Table("Chunkings, best first", columns, tuple(rows), tuple(lines))

    def remarks(self) -> list[str]:
        """Return what a reader should know besides the numbers."""
        cut = (said for cut in self.chunks for said in cut.remarks)
        return list(dict.fromkeys((*self.noticed, *cut, *self.scores.remarks())))

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, best first."""
        return {
            "signature": self.scores.signature,
            "gold_sha256": self.scores.gold_sha256,
            "docs_sha256": self.scores.docs_sha256,
            "decides": self.measure,
            "best": self.best,
            "cheapest": self.cheapest,
            "sentence": self.sentence(),
            "method": self.comparison.method,
            "topics": len(self.comparison.topics),
            "chunkings": [
                {
                    "chunking": self.names[number],
                    "measures": dict(zip(self.scores.measures, self.scores.mean[number].tolist(), strict=True)),
                    "cost": vars(self.extents[number]) | {"times": self.extents[number].times},
                    "against_best": {
                        "verdict": f"{stands.word}: {stands.reason}" if stands.reason else stands.word,
                        "difference": stands.difference,
                        "p_corrected": stands.p,
                    },
                    "rank": None if self.comparison.ranks is None else self.comparison.ranks[place].tolist(),
                    "letters": None if self.comparison.ranks is None else self.comparison.letters[place],
                }
                for place, number in enumerate(self.order)
                for stands in (self.standings[number],)
            ],
        }

    def report(self, title: str = "") -> Report:
        """Return the report on the runs of all chunkings, with quality drawn against cost first among its graphs."""
        from focuseval.report.build import evidence_on, report_on  # noqa: PLC0415  a hundred modules that only pages need

        evidence = evidence_on(self.evaluation, self.settings, clusters=self.clusters)
        report = report_on(evidence, title=title or f"{self.measure}: {len(self.names)} chunkings")
        cut = (remark for chunks in self.chunks for remark in chunks.remarks)
        remarks = (self.sentence(), *self.noticed, *cut, *report.remarks)
        return replace(report, charts=(quality_against_cost(self), *report.charts), remarks=remarks)

    def __str__(self) -> str:
        """Return the table, with the signature below: what ``print`` shows."""
        return render([self.table()], "table", signature=self.scores.signature).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return notebook(self.table(), self.scores.signature)


def quality_against_cost(found: Sweep) -> Chart:
    """Draw every chunking's mean with its 95 % interval over its number of chunks; the size is that of their text."""
    unit = "characters" if found.extents[0].tokens is None else "tokens"
    rows: list[tuple[Any, ...]] = []
    for place, run in enumerate(found.order):
        text, word = found.extents[run], found.standings[run].word
        ends = found.comparison.intervals[place].tolist()
        values = (rounded(float(value)) for value in (found.comparison.means[place], *ends))
        cost = text.characters if text.tokens is None else text.tokens
        rows.append((found.names[run], text.chunks, cost, *values, word))
    caption = (
        f"Mean {found.measure} of every chunking with its 95 % interval, over the number of its chunks, all of which "
        f"have to be stored. The larger a point, the more {unit} have to be embedded. Up and to the left is better. "
        f"Colours and shapes say whether a chunking is worse than the best ({found.comparison.method})."
    )
    columns = ("chunking", "chunks", unit, "mean", "low", "high", "against the best")
    names = labels([(name, chunks, mean) for name, chunks, _, mean, *_ in rows])
    stands = {"field": columns[-1], "type": "nominal"}
    domain = {"domain": list(WORDS)}
    color, shape = stands | {"scale": domain}, stands | {"scale": domain | {"range": list(SHAPES[: len(WORDS)])}}
    size = {"field": columns[2], "type": "quantitative", "scale": {"range": [40, 260]}, "legend": None}
    x = axis("chunks", "chunks", scale={"type": "log", "nice": False, "padding": 30}, axis={"format": "~s"})
    title = f"mean {found.measure}"
    mean = axis("mean", title, scale={"zero": False})
    interval = {"y": axis("low", title, scale={"zero": False}), "y2": {"field": "high"}}
    drawn: dict[str, Any] = {"color": color, "tooltip": [{"field": name} for name in columns]}
    spec = {
        "width": "container",
        "height": 380,
        "data": {"name": "rows"},
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "rule", "strokeOpacity": 0.6}, "encoding": drawn | interval},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": drawn | {"y": mean, "shape": shape, "size": size},
            },
            {
                "data": {"values": names},
                "mark": {"type": "text", "align": "left", "dx": 10, "limit": 190},
                "encoding": {"y": mean, "text": {"field": "chunking"}},
            },
        ],
    }
    return Chart("chunking-cost", "Quality against cost of indexing", caption, "curves", columns, tuple(rows), spec)


def labels(points: Sequence[tuple[str, int, float]]) -> list[dict[str, Any]]:
    """Return where names stand: each beside its point, best first, moved down where it would hide another.

    >>> [row["mean"] for row in labels([("a", 100, 0.5), ("b", 101, 0.5), ("c", 900, 0.5), ("d", 90, 0.0)])]
    [0.5, 0.48, 0.5, 0.0]
    """
    heights = [mean for _, _, mean in points]
    line = LINE * (max(heights) - min(heights))
    wide = WIDTH * (log(max(chunks for _, chunks, _ in points)) - log(min(chunks for _, chunks, _ in points)))
    placed: list[tuple[float, float]] = []
    found = []
    for name, chunks, mean in points:
        at, height = log(max(chunks, 1)), mean
        near = sorted((y for x, y in placed if abs(x - at) <= wide), reverse=True)
        for y in near:
            if abs(y - height) < line:
                height = y - line
        placed.append((at, height))
        found.append({"chunking": name, "chunks": chunks, "mean": round(height, DIGITS)})
    return found
