"""Generalised precision and recall over ranked articles: relevant in context, best in context from 2007.

``S(a)`` is the score of an article: F of the text returned from it, tolerance to irrelevance (a reader who gives up
after so much irrelevant text), nearness of the entry point, or MAep of its elements.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from focuseval.data.spans import fragments, union
from focuseval.measures.documents import recall, relevant_upto
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Budget, Measure, Parameter
from focuseval.measures.prepared import BUILD_INDEX
from focuseval.measures.spans import restricted
from focuseval.measures.topicwise import Floats, Integers, count, ratio, running, running_count, total, without_base
from focuseval.measures.xcg import browse_scores


class ScoredArticles(NamedTuple):
    """The returned articles that may score, in rank order; all others score 0."""

    row: Integers  # row in the article view
    topic: Integers
    rank: Integers
    score: Floats
    bounds: Integers  # where each topic's articles begin, and the end of the last

    def gp(self) -> Floats:
        """Return gP at the rank of every article here."""
        return running(self.score, self.bounds) / self.rank


def article_scores(m: Matched, score: str, beta: float, irr: int, n: int) -> ScoredArticles:
    r"""Return the relevant articles, scored by F, tolerance to irrelevance, nearness to the entry point, or MAep.

    .. math:: F_\beta(a) = \frac{(1 + \beta^2) P(a) R(a)}{\beta^2 P(a) + R(a)}
    """
    rows = np.flatnonzero(m.a_relevant)
    topic = m.a_topic[rows].astype(np.int64)
    bounds = np.searchsorted(topic, np.arange(m.topics + 1)).astype(np.int64)
    if score == "t2i":
        scores = tolerance_scores(m, int(irr))[rows]
    elif score == "ep":
        scores = np.nan_to_num(m.of_gold(browse_scores(m), missing=0))[rows]
    elif score == "bep":  # 0 without a best entry point
        entry, best = m.places.entry[m.a_first][rows], m.of_gold(m.prepared.bep, missing=-1)[rows]
        scores = np.where((best >= 0) & (entry >= 0), np.maximum(0, int(n) - np.abs(entry - best)) / int(n), 0.0)
    else:  # 0 where nothing relevant was returned
        number = np.zeros(len(m.prepared.topic), np.int64)
        number[m.a_article[rows]] = np.arange(len(rows))
        place = number[m.known[m.hits]]
        size, relevant = (np.bincount(place, column[m.hits], len(rows)) for column in (m.cost, m.new_rsize))
        p, r = ratio(relevant, size), ratio(relevant, m.prepared.trel[m.a_article[rows]])
        scores = ratio((1 + beta * beta) * p * r, beta * beta * p + r)
    return ScoredArticles(rows, topic, m.a_rank[rows], scores, bounds)


def tolerance_scores(m: Matched, irr: int) -> Floats:
    r"""Return T2I of every returned article, in the official form of 2010.

    The reader goes through the returned passages in document order, then through the text between them in document
    order, and stops once `irr` irrelevant characters are read.
    """
    readable = np.flatnonzero(m.a_relevant)
    article, length = m.a_article[readable], m.of_gold(m.prepared.length, missing=-1)[readable]
    if (length < 0).any():
        raise m.prepared.lacking(f"T2I reads to the end of the article, whose length is unknown; {BUILD_INDEX}")
    scores = np.zeros(len(m.a_first))
    # Cut the articles where passages and highlights begin and end; read the pieces in the reader's order.
    number = np.full(len(m.prepared.topic), -1, np.int64)
    number[article] = np.arange(len(article))
    hits, highlights = m.hits, m.prepared.highlights
    place, end = number[m.article[hits]], m.end[hits]
    reach = length.copy()
    if m.policies.compat == "inex_eval":
        np.maximum.at(reach, place, end)  # what is returned past an article's end is read as irrelevant text
    returned = union(place, m.start[hits], np.minimum(end, reach[place]))
    mine = np.flatnonzero(number[highlights.group] >= 0)
    relevant = union(number[highlights.group[mine]], highlights.start[mine], highlights.end[mine])
    group, start, stop, (inside, good) = fragments(reach, returned, relevant)
    last = np.where(inside, stop, np.minimum(stop, length[group]))
    order = np.lexsort((start, ~inside, group))
    group, size, good = group[order], np.maximum(last - start, 0)[order], good[order]
    bounds = np.searchsorted(group, np.arange(len(article) + 1))
    bad = np.where(good, 0, size)
    liked = total(np.where(good & (running_count(bad, bounds) < irr), size, 0), group, len(article))
    disliked = np.minimum(total(bad, group, len(article)), irr)
    scores[readable] = ratio(liked, liked + disliked)
    return scores


def tolerance(m: Matched, irr: int) -> Floats:
    """Return the mean T2I over the topic's relevant articles; an article that was not returned scores 0.

    A reader goes through an article's returned passages, then through the text between them, each in document order,
    and stops once `irr` irrelevant characters are read.
    """
    return ratio(total(tolerance_scores(m, irr), m.a_topic, m.topics), m.prepared.numrel)


def generalised_precision(m: Matched, *, at: int, beta: float, score: str, irr: int, n: int) -> Floats:
    r"""Return the mean article score over the first `at` ranks.

    An article's score is F of the text returned from it (β weighs recall), tolerance to irrelevance, nearness of the
    entry point, or MAep of its elements; 0 where the article is not relevant.
    A topic with fewer articles is padded with zeros, so that no run gains by returning less; with the policy
    ``short=last`` the value of the last rank is repeated instead.
    """
    s = article_scores(m, score, beta, irr, n)
    kept = s.rank <= at
    divisor: Integers | int = at
    if m.policies.short == "last":
        divisor = np.minimum(np.maximum(np.diff(m.a_bounds), 1), at)
    return based(m, score, total(s.score[kept], s.topic[kept], m.topics) / divisor)


def generalised_recall(m: Matched, at: int, gain: str, credit: str) -> Floats:
    """Return the share of the relevant articles (or of their highlighted text) within the first `at` ranks."""
    if gain == "documents":
        return recall(m, at)
    kept = np.where(m.a_rank <= at, recall_credit(m, gain, credit), 0)
    return ratio(count(kept, m.a_bounds), m.prepared.trel_of_topic)


def recall_credit(m: Matched, gain: str, credit: str) -> Integers:
    """Return what every returned article adds to recall: 1, its highlighted text, or what was returned of it."""
    if gain == "documents":
        return m.a_relevant.astype(np.int64)
    text = m.of_gold(m.prepared.trel, missing=0) if credit == "document" else m.by_article(m.new_rsize)
    return np.where(m.a_relevant, text, 0)


def average_generalised_precision(
    m: Matched, *, beta: float, gain: str, credit: str, form: str, score: str, irr: int, n: int,
    at: Budget | None = None,
) -> Floats:  # fmt: skip
    """Return gP at the rank of every relevant article, weighted by what the article adds to recall.

    With a budget, only so many characters of every article count (the restricted task of 2010).
    """
    m = m if at is None else restricted(m, at.amount)
    s = article_scores(m, score, beta, irr, n)
    gp, added = s.gp(), recall_credit(m, gain, credit)[s.row]
    whole = m.prepared.numrel if gain == "documents" else m.prepared.trel_of_topic
    if form == "interpolated":
        return based(m, score, interpolate(s, added, whole).mean(axis=1))
    if form == "ratio":
        mean = ratio(total(gp, s.topic, m.topics), relevant_upto(m, None))
        return based(m, score, ratio(count(added, s.bounds), whole) * mean)
    return based(m, score, ratio(total(gp * added, s.topic, m.topics), whole))


def interpolate(s: ScoredArticles, added: Integers, whole: Integers, steps: int = 100) -> Floats:
    """Return, for every topic, the best gP at or beyond each recall level 0, 1/steps … 1.

    Only ranks of articles that may score can hold a maximum: any other lowers gP and adds no recall.
    """
    level = running_count(added, s.bounds) * steps // np.maximum(whole[s.topic], 1)
    best = np.zeros((len(whole), steps + 1))
    np.maximum.at(best, (s.topic, np.minimum(level, steps)), s.gp())
    return np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]


def generalised_curve(m: Matched, **parameters: float | str) -> tuple[Floats, Floats]:
    """Return the levels .00 … 1 of gR and, for every topic, the best gP at or beyond each."""
    chosen = {p.name: p.default for p in (*AVERAGE, *SCORE)} | parameters
    gain, credit, score = (str(chosen[name]) for name in ("gain", "credit", "score"))
    s = article_scores(m, score, float(chosen["beta"]), int(chosen["irr"]), int(chosen["n"]))
    whole = m.prepared.numrel if gain == "documents" else m.prepared.trel_of_topic
    best = interpolate(s, recall_credit(m, gain, credit)[s.row], whole)
    return np.arange(101) / 100, based(m, score, best)


def based(m: Matched, score: str, values: Floats) -> Floats:
    """Leave out the topics without an entry point where the score is made of entry points."""
    if score != "bep":
        return values
    beps = m.prepared.beps_of_topic
    return without_base(values, beps if values.ndim == 1 else beps[:, None])


BETA = Parameter("beta", 1, "Weight of recall in an article's F; 0.25 from 2008 on.", policy=True, least=0)
GAIN = Parameter("gain", "documents", "What recall counts.", ("documents", "length"))
CREDIT = Parameter("credit", "document",
    "With gain=length: the article's highlighted text, or what was returned of it.",
    ("document", "retrieved"))  # fmt: skip
FORM = Parameter("form", "average", "How gP is averaged over recall.", ("average", "ratio", "interpolated"))
SCORE = (
    Parameter("score", "f", "Score of an article: F, tolerance to irrelevance, entry point, or effort-precision.",
        ("f", "t2i", "bep", "ep")),
    Parameter("irr", 300, "Irrelevant characters that a reader tolerates.", only=("score", "t2i"), least=1),
    Parameter("n", 500, "Distance at which an entry point is worth nothing.", only=("score", "bep"), least=1),
)  # fmt: skip
AVERAGE = (BETA, GAIN, CREDIT, FORM)

_articles = partial(
    Measure, cite="kamps2007evaluating", traits=("grouped output",), tasks=("relevant-in-context", "best-in-context")
)
_scored = partial(_articles, needs=("spans",), curve=generalised_curve,
    needs_if={("score", "bep"): ("entry points",), ("score", "ep"): ("elements",)})  # fmt: skip

MEASURES = (
    Measure("T2I", tolerance, "Tolerance to irrelevance, averaged over the relevant articles.",
        "arvola2011contextualization", needs=("spans",), traits=("grouped output",),
        parameters=(replace(SCORE[1], only=None),), perfect=False, tasks=("relevant-in-context",),
        formula=r"T2I(a) = \frac{\text{relevant read}}{\text{relevant read} + \text{irrelevant read}}",
        example="100 relevant characters are read before 300 irrelevant ones: 0.25."),
    _scored("gP", generalised_precision, "Generalised precision: the mean score of the first k articles.",
        at=("rank",), at_required=True, parameters=(BETA, *SCORE), perfect=False,
        formula=r"gP[r] = \frac{1}{r} \sum_{i \le r} S(a_i)", example="Article scores 1, 0.5: gP@2 = 0.75."),
    _articles("gR", generalised_recall, "Generalised recall: the share of the relevant articles in the first k.",
        needs=("documents",), needs_if={("gain", "length"): ("spans",)}, at=("rank",), at_required=True,
        parameters=(GAIN, CREDIT), perfect=False,
        formula=r"gR[r] = \frac{1}{Numrel} \sum_{i \le r} rel(a_i)",
        example="One of two relevant articles is at rank 1: gR@1 = 0.5."),
    _scored("MAgP", average_generalised_precision,
        "Mean average generalised precision: gP at the rank of every relevant article.", at=("characters",),
        parameters=(*AVERAGE, *SCORE), perfect_unless="score=t2i", aliases=("AgP",),
        formula=r"AgP = \frac{1}{Numrel} \sum_{r:\, rel(a_r)} gP[r]",
        example="Scores 1, 0, 0.5, the first and last relevant of two: (1 + 1.5/3) / 2 = 0.75."),
)  # fmt: skip
