"""What a report is made from: the runs, their scores, and what is kept of the runs that are drawn.

A run is matched once; of one that is drawn the points of its curves, where its results lie, how far its cut-offs reach,
why topics score 0, and what its answers cite and leave out are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.data.spans import Spans, union
from focuseval.errors import FocusevalError, MissingDataError, counted
from focuseval.evaluation.counts import results_read
from focuseval.evaluation.estimating import Estimates
from focuseval.evaluation.evaluation import Evaluation
from focuseval.evaluation.scores import Scores, order_of, oriented
from focuseval.evaluation.scoring import curve_of, mean_of
from focuseval.inference.clusters import By, Clusters
from focuseval.inference.comparison import MOST_DIFFERENCES, Comparison, compare_all
from focuseval.inference.intervals import UNBOUNDED, interval
from focuseval.inference.settings import Settings
from focuseval.measures import MeasureCall, parse
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Budget
from focuseval.measures.prepared import Prepared
from focuseval.measures.spans import OF_TEXT, paid_ends, read
from focuseval.measures.topicwise import count
from focuseval.report.texts import shortened
from focuseval.studies.fidelity import Fidelity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Points = tuple[Floats, Floats]

READ = 5  # results whose text is the cost of reading in the plot of cost against quality
NEED = 60  # characters of a needed passage that has no name
MOST_DRAWN = 24  # runs whose curves and texts are shown; nobody tells more lines apart
MOST_PAIRS = 15_000
"""Pairs that are compared under all measures together, at about .3 ms each; of more, under measures other than the one
that decides those of the drawn runs alone."""

KINDS = {"A": "#0072B2", "B": "#D55E00", "may be as good": "#808080", "significantly worse": "#808080"}
"""What a run is in the graph that is the headline, with its colour: blue is A and orange is B everywhere; what is worse
is faint."""


@dataclass(frozen=True, eq=False)
class Retrieved:
    """Results as places of the collection, one row each, in rank order within their topic."""

    topic: Integers  # number of the counted topic
    document: Integers  # row of the document in the index, −1 where the index does not have it
    start: Integers
    end: Integers
    entry: Integers
    """Where a reader enters, −1 where unknown."""
    rank: Integers  # rank of the article in its topic, from 1
    place: Integers  # rank of the result in its topic, from 1
    lost: tuple[str, ...] = ()  # the document's id of every result whose document the index does not have
    path: pa.Array | None = None  # paths of elements, as the run gives them; None where it gives none
    end_path: pa.Array | None = None  # paths of the last elements of ranges
    totals: tuple[Integers, Integers] | None = None
    """For every topic the characters of the whole list, each once, and the highlighted ones; None without those."""
    budgets: Mapping[str, Integers] = field(default_factory=dict)
    """Budgets of words and tokens such as ``300 words`` → for every topic the characters that they pay for."""


@dataclass(frozen=True)
class Observed:
    """What the report keeps of one run."""

    curves: Mapping[str, Points] = field(default_factory=dict)  # name of a curve → x and the mean of y over topics
    values: Mapping[str, float] = field(default_factory=dict)  # further means, by measure
    reading: Floats | None = None
    """Characters of the first `READ` results, each once, and the share of highlighted text in them, topic by topic."""
    retrieved: Retrieved | None = None
    why_not: str = ""
    """Why nothing can be shown in the text, where that is so."""
    unjudged: float = 0.0  # share of the results that the measures read whose documents nobody judged
    zeros: Mapping[int, str] = field(default_factory=dict)  # topic → why it scores 0 under the measure that decides
    answers: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    """Topic → its answer, of a run of answers; see `answers_of`."""


@dataclass(frozen=True)
class Evidence:
    """Everything that verdict, charts and heat map are made from."""

    evaluation: Evaluation
    settings: Settings
    labels: tuple[str, ...]
    """A name for every run, each different."""
    baseline: int | None = None  # number of the run that the others are held against
    drawn: tuple[int, ...] = ()  # numbers of the runs that were observed, best first, at most `MOST_DRAWN`
    observed: tuple[Observed, ...] = ()  # what the drawn runs returned
    fidelity: Fidelity | None = None
    titles: Mapping[str, str] | None = None
    """Topic → what was asked."""
    cluster_by: By | None = None  # what topics are clustered by, if by anything
    estimates: Estimates | None = None  # what these runs would score if people had judged all topics, where a model did

    @cached_property
    def clustering(self) -> dict[str, Any]:
        """The clusters of the topics, as `compare_all` takes them."""
        return self.scores.clustering(self.cluster_by)

    @cached_property
    def asked(self) -> tuple[MeasureCall, ...]:
        """The measures over topics with relevant text: pairs, graphs and tables are of these."""
        every = self.evaluation.plan.measures
        return tuple(one for one in every if one.measure.base == "relevance")

    @cached_property
    def scores(self) -> Scores:
        """Every run's values under these measures, of which more is better; ``−uncited`` is uncited turned round."""
        whole = oriented(self.evaluation.scores)
        if set(whole.bases) <= {"relevance"}:
            return whole
        kept = [place for place, base in enumerate(whole.bases) if base == "relevance"]
        names = tuple(whole.measures[place] for place in kept)
        decides = whole.decides if whole.decides in names else ""
        return replace(whole, measures=names, values=whole.values[:, :, kept], bases=(), geometric=(), decides=decides)

    @property
    def prepared(self) -> Prepared:
        """The gold, as the runs were matched with it."""
        return self.evaluation.prepared

    @property
    def index(self) -> Collection | None:
        """The collection, or None."""
        return self.prepared.index

    @cached_property
    def highlights(self) -> Spans | None:
        """What the gold says, in characters, to be relevant; None where it does not say."""
        with suppress(MissingDataError):
            return self.prepared.highlights
        return None

    @property
    def measure(self) -> str:
        """The measure that decides: the profile's, else the first."""
        return self.scores.measures[self.scores.deciding]

    @cached_property
    def order(self) -> Integers:
        """Runs by the mean of the measure that decides, best first."""
        return order_of(self.scores)

    @cached_property
    def pair(self) -> tuple[int, int] | None:
        """A and B: the run that is judged and the one it is judged against, or None for a single run.

        With a baseline, the best of the others against it; of two runs, the first against the second; of many, the
        best against the runner-up.
        """
        if len(self.labels) < 2:
            return None
        if self.baseline is not None:
            return next(int(run) for run in self.order if run != self.baseline), self.baseline
        return (0, 1) if len(self.labels) == 2 else (int(self.order[0]), int(self.order[1]))

    @property
    def places(self) -> tuple[int, int | None]:
        """Where A and B stand among the drawn runs."""
        if self.pair is None:
            return 0, None
        return self.drawn.index(self.pair[0]), self.drawn.index(self.pair[1])

    @cached_property
    def comparisons(self) -> list[Comparison | None]:
        """The runs compared under every measure: all pairs, or those with the baseline; rows are numbers of runs.

        None where no topic has a value in every run.
        """
        return self._compare(self.baseline)

    @cached_property
    def other_comparisons(self) -> list[Comparison | None] | None:
        """With a baseline, the comparisons that have the pairs without it; None without a baseline."""
        return None if self.baseline is None else self._compare(None)

    def _compare(self, baseline: int | None) -> list[Comparison | None]:
        """Compare the runs; of too many pairs all under the measure that decides, or the drawn runs' there, too.

        A baseline's own pairs are all compared under that measure, however many they are.
        """
        runs, scores, measures = len(self.labels), self.scores, self.scores.measures
        values = scores.values.transpose(2, 0, 1)
        compare: Callable[..., list[Comparison | None]] = partial(
            compare_all, runs=self.labels, topics=scores.topics, settings=self.settings, baseline=baseline,
            **self.clustering,
        )  # fmt: skip
        pairs = runs * (runs - 1) // 2 if baseline is None else runs - 1
        if pairs * len(measures) <= MOST_PAIRS:
            return compare(measures, values=values)
        found = compare(measures, values=values, among=self.drawn)
        if baseline is not None or pairs * len(scores.topics) <= MOST_DIFFERENCES:
            (found[scores.deciding],) = compare([self.measure], values=values[[scores.deciding]])
        return found

    @property
    def compared(self) -> Comparison | None:
        """The comparison under the measure that decides; None for a single run, and where no topic is compared."""
        return None if self.pair is None else self.comparisons[self.scores.deciding]

    def kind(self, run: int) -> str:
        """Return what a run is beside the others, of `KINDS`: A, B, or what it is to the run with the highest mean."""
        if self.pair is None or run in self.pair:
            return "B" if self.pair and run == self.pair[1] else "A"
        found = self.compared
        best = None if found is None else self.baseline if self.baseline is not None else found.order[0]
        worse = found is not None and best is not None and found.stars()[best, run]
        return list(KINDS)[3 if worse else 2]

    def listed(self, most: int) -> list[int]:
        """Return the runs that a plot has room for, best first; the baseline is always among them."""
        chosen = [int(run) for run in self.order[:most]]
        if self.baseline is not None and self.baseline not in chosen:
            chosen[-1] = self.baseline
        return chosen

    def values(self, measure: str | None = None) -> Floats:
        """Return runs × topics under one measure, NaN where a topic is not in the mean."""
        column = self.scores.measures.index(measure or self.measure)
        return self.scores.values[:, :, column]

    @cached_property
    def intervals(self) -> Floats:
        """Measures × runs: mean, low, high and number of topics."""
        values = self.scores.values.transpose(2, 0, 1)
        bounds = np.array([self.scores.bounds_of(measure) for measure in self.scores.measures]).T
        rows, ends = values.reshape(-1, values.shape[2]), np.repeat(bounds, values.shape[1], axis=1)
        found = intervals(rows, self.settings, self.clustering.get("clusters"), ends)
        return found.reshape(*values.shape[:2], 4)

    def title(self, topic: str) -> str:
        """Return what a topic asks; empty where neither topics nor gold say it."""
        return (self.titles or {}).get(topic, "") or self.prepared.gold.queries.get(topic, "")


def intervals(
    values: Floats, settings: Settings, clusters: Clusters | None = None, bounds: Floats | None = None
) -> Floats:
    """Return mean, low, high and number of topics of every row, within `bounds`; NaN where a run has no topic.

    Rows that lack the same topics share their resamples.

    >>> from focuseval.inference.settings import Settings
    >>> intervals(np.array([[0.5, 0.5, np.nan]]), Settings()).tolist()
    [[0.5, 0.5, 0.5, 2.0]]
    """
    found = np.full((len(values), 4), np.nan)
    known = ~np.isnan(values)
    patterns, group = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(group.reshape(-1) == number)
        found[rows, 3] = pattern.sum()
        if pattern.any():
            here = values[np.ix_(rows, pattern)]
            ends = UNBOUNDED if bounds is None else (bounds[0, rows], bounds[1, rows])
            low, high = interval(here, settings, None if clusters is None else clusters.take(pattern), ends)
            found[rows, :3] = np.stack([here.mean(axis=1), low, high], axis=1)
    return found


def observe(evidence: Evidence, number: int, curves: Sequence[str], means: Sequence[str]) -> Observed:
    """Keep some curves, some means and the places of one run; what the data do not allow is left out."""
    evaluation, label = evidence.evaluation, evidence.labels[number]
    matched, plan = evaluation.matched(number), evaluation.plan
    points: dict[str, Points] = {}
    for name in curves:
        with suppress(FocusevalError):
            x, y = curve_of(name, matched, plan)
            mean = mean_of(y)
            if not np.isnan(mean).all():
                points[name] = (x, mean)
    values: dict[str, float] = {}
    for name in means:
        with suppress(FocusevalError):
            asked = parse(name)
            of_topics = asked.measure.compute(matched, **asked.arguments(plan.policies))
            kept = of_topics[~np.isnan(of_topics) & (matched.answered | (plan.policies.missing != "skip"))]
            if len(kept):
                values[name] = float(kept.mean())
    reading = None
    with suppress(FocusevalError):  # gold or run have no characters
        first = read(matched, READ)
        reading = np.stack([first.size.astype(np.float64), OF_TEXT["spanR"](first)])
    zeros = {}
    with suppress(FocusevalError):  # as above
        zeros = explain_zeros(matched, evidence.values()[number], evidence.asked[evidence.scores.deciding], label)
    shown = results_read(matched, evidence.asked)
    unjudged = float((shown & ~matched.judged).sum() / max(1, shown.sum()))
    seen = Observed(points, values, reading, unjudged=unjudged, zeros=zeros)
    if evaluation.prepared.index is None:
        return seen
    # where budgets of words and tokens end only the engine knows
    cuts = [asked.cut for asked in plan.measures if asked.cut is not None and asked.cut[1] in {"words", "tokens"}]
    try:
        retrieved = retrieve(matched, tuple(dict.fromkeys(Budget(*cut) for cut in cuts)))
        return replace(seen, retrieved=retrieved, answers=answers_of(matched))
    except FocusevalError as why:
        return replace(seen, why_not=str(why))


def retrieve(matched: Matched, budgets: Sequence[Budget] = ()) -> Retrieved:
    """Return where every result lies in the collection, and how far budgets of words and tokens reach."""
    document, placement = matched.document_row, matched.run.placement
    lost = np.flatnonzero(document < 0)
    names = tuple(matched.column(matched.run.document).take(lost).to_pylist()) if len(lost) else ()
    length = np.zeros(len(matched), np.int64) if placement is None else matched.column(np.maximum(placement.length, 0))
    totals = None
    with suppress(FocusevalError):  # gold or run have no characters
        whole = read(matched, None)
        totals = (whole.size, whole.relevant)
    paid = {}
    for budget in budgets:
        kept, _, end = paid_ends(matched, budget)
        paid[f"{budget.amount} {budget.unit}"] = count(np.where(kept, end - matched.start, 0), matched.bounds)
    return Retrieved(
        topic=matched.topic.astype(np.int64),
        document=document,
        start=np.minimum(matched.start, length),
        end=np.minimum(matched.places.end, length),
        entry=np.where(matched.places.entry > length, -1, matched.places.entry),
        rank=matched.a_rank[matched.a_of_result],
        place=matched.rank,
        lost=names,
        path=matched.path,
        end_path=None if matched.run.end_path is None else matched.column(matched.run.end_path),
        totals=totals,
        budgets=paid,
    )


def explain_zeros(matched: Matched, values: NDArray[np.float64], asked: MeasureCall, run: str) -> dict[int, str]:
    """Return topic → one sentence for every topic that scores 0: where the answer is, and what the run did with it."""
    prepared, bounds = matched.prepared, matched.bounds
    hits, found, sizes = matched.hits, matched.hits, None
    with suppress(MissingDataError):  # of judged documents or elements there are no characters
        found, sizes = np.flatnonzero(matched.rsize > 0), prepared.trel_of_topic
    firsts = np.full((2, matched.topics), -1, np.int64)
    for rows, own in zip((hits, found), firsts, strict=True):
        own[matched.topic[rows[::-1]]] = rows[::-1]
    unread, reach = ~results_read(matched, [asked]), "the end of the list"
    if asked.cut is not None:
        amount, unit = asked.cut
        first = f"the first {amount:,} {unit}" if amount > 1 else f"the first {unit[:-1]}"
        reach = first if unit in {"results", "articles"} else f"the budget of {amount:,} {unit}"
    relevant = np.flatnonzero(prepared.relevant & (prepared.topic >= 0))
    relevant = relevant[np.argsort(prepared.topic[relevant], kind="stable")]
    edges = np.searchsorted(prepared.topic[relevant], np.arange(matched.topics + 1))
    documents, codes = prepared.gold.documents, prepared.gold.articles.document
    said = {}
    for topic in np.flatnonzero(values == 0).tolist():
        names = [str(documents[int(codes[i])]) for i in relevant[edges[topic] : edges[topic + 1]][:3]]
        more = int(edges[topic + 1] - edges[topic]) - 1
        where = names[0] + (f" and {counted(more, 'more document')}" if more else "") if names else "no document"
        size = "" if sizes is None else f" ({counted(int(sizes[topic]), 'character')})"
        hit, part = firsts[:, topic].tolist()
        if bounds[topic] == bounds[topic + 1]:
            said[topic] = f"{run} returned nothing."
        elif hit < 0:
            said[topic] = f"The answer{size} is in {where}, which {run} never returned."
        elif part < 0:
            other = str(documents[int(codes[matched.known[hit]])])
            said[topic] = (
                f"{run} returned {other} at rank {matched.rank[hit]:,}, but another part than the answer{size}."
            )
        elif unread[part]:
            said[topic] = (
                f"{run} returned the answer{size}, in {documents[int(codes[matched.known[part]])]!s}, at rank "
                f"{matched.rank[part]:,}, below {reach}."
            )
        else:
            said[topic] = (
                f"{run} returned some of the answer{size} at rank {matched.rank[part]:,}; {asked.key} asks for more."
            )
    return said


def answers_of(matched: Matched) -> dict[int, dict[str, Any]]:
    """Return topic → its answer: sentences with citations and needs, citations to nowhere, and needs that none covers.

    ``sentences``: text, ranks of what it cites, and for every needed item that it covers its name and the share of its
    best alternative, in percent. ``nowhere``: ranks of citations without a known place. ``open``: names of needs.
    """
    if not matched.run.answers:
        return {}
    names, owners = needs_of(matched)
    nowhere = (matched.document_row < 0) | (matched.start < 0)
    found = {}
    for topic, name in enumerate(matched.prepared.topics):
        answer = matched.run.answers.get(name)
        if answer is None:
            continue
        low, high = matched.bounds[topic : topic + 2].tolist()
        items = np.flatnonzero(owners == topic)
        best = np.zeros(len(names))
        sentences: list[list[Any]] = []
        for statement in answer.statements:
            rows = np.array([low + number for number in statement.cites if low + number < high], np.int64)
            shares = np.zeros(len(names))
            if len(items):  # how much of every needed item's best alternative lies in what is cited
                needs, known = matched.prepared.needs, rows[matched.article[rows] < len(matched.prepared.topic)]
                cited = union(matched.article[known], matched.start[known], matched.end[known])
                held = cited.covered(needs.article, needs.start, needs.end)
                np.maximum.at(shares, needs.item, held / (needs.end - needs.start))
            best = np.maximum(best, shares)
            covered = [[names[item], round(100 * shares[item])] for item in items.tolist() if shares[item] > 0]
            sentences.append([statement.text.strip(), matched.rank[rows].tolist(), covered])
        found[topic] = {
            "abstains": answer.abstains,
            "sentences": sentences,
            "nowhere": matched.rank[low:high][nowhere[low:high]].tolist(),
            "open": [names[item] for item in items.tolist() if best[item] == 0],
        }
    return found


def needs_of(matched: Matched) -> tuple[list[str], Integers]:
    """Return the name of every needed item, else the beginning of its text, and its topic."""
    try:
        needs = matched.prepared.needs
    except FocusevalError:  # the gold has no characters
        return [], np.zeros(0, np.int64)
    names, index = [""] * len(needs.topic), matched.prepared.index
    given = matched.prepared.gold.passages.need
    documents = matched.prepared.document_rows[matched.prepared.gold.articles.document]
    for row, item in enumerate(needs.item.tolist()):
        named = None if given is None else given[int(needs.passage[row])].as_py()
        if named is None and index is not None and documents[needs.article[row]] >= 0:
            text = index.text(int(documents[needs.article[row]]))[needs.start[row] : needs.end[row]]
            named = f"“{shortened(' '.join(text.split()), NEED)}”"
        names[item] = names[item] or named or f"need {item + 1}"
    return names, needs.topic
