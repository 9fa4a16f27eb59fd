"""Measures of whole documents, equal to trec_eval's for every topic.

An article is relevant if it has a highlight, or a grade of 1 or more; with ``rel=2``, of 2 or more. Articles stand in
order of first appearance.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from focuseval.errors import MeasureError
from focuseval.measures.document_matching import ranks
from focuseval.measures.matching import Found, Matched
from focuseval.measures.measure import Measure, Parameter, number
from focuseval.measures.topicwise import Floats, Integers, once, ratio, running, running_count, total, without_base

EPSILON = 0.00001  # what trec_eval adds to counts in infAP, and the least average precision in GMAP


@once
def relevant(m: Matched, rel: float = 1) -> tuple[Found, Integers]:
    """Return the returned articles with a grade of `rel` or more, in rank order, and how many each topic has."""
    found, grade = m.found, m.prepared.gold.articles.relevance
    if rel == 1:
        return found, m.prepared.numrel
    kept = grade[found.article] >= rel
    return Found(*(column[kept] for column in found)), m.prepared.per_topic(grade >= rel)


def relevant_upto(m: Matched, cutoff: Integers | int | None, rel: float = 1) -> Integers:
    """Return how many relevant articles stand within the first `cutoff` ranks of each topic."""
    found, _ = relevant(m, rel)
    topic = found.topic
    if cutoff is not None:
        topic = topic[found.rank <= np.broadcast_to(cutoff, (m.topics,))[topic]]
    return np.bincount(topic, minlength=m.topics)


def based(m: Matched, rel: float, values: Floats) -> Floats:
    """Leave out the topics without an article of the grade that is asked for."""
    return values if rel == 1 else without_base(values, relevant(m, rel)[1])


def precision(m: Matched, at: int, rel: float = 1) -> Floats:
    r"""Return relevant articles among the first `at`, divided by `at` even when fewer were returned."""
    return based(m, rel, relevant_upto(m, at, rel) / at)


def recall(m: Matched, at: int | None = None, rel: float = 1) -> Floats:
    """Return relevant articles among the first `at` (or all), divided by all relevant articles."""
    return based(m, rel, ratio(relevant_upto(m, at, rel), relevant(m, rel)[1]))


def r_precision(m: Matched, rel: float = 1) -> Floats:
    """Return precision at the rank that equals the number of relevant articles."""
    needed = relevant(m, rel)[1]
    return based(m, rel, ratio(relevant_upto(m, needed, rel), needed))


@once
def precisions(m: Matched, rel: float) -> tuple[Integers, Floats]:
    """Return, for every relevant article that was returned, its number among them, and the precision at its rank."""
    found, _ = relevant(m, rel)
    seen = ranks(np.searchsorted(found.topic, np.arange(m.topics + 1)))
    return seen, seen / found.rank


def average_precision(m: Matched, at: int | None = None, rel: float = 1) -> Floats:
    """Return the mean, over all relevant articles, of the precision at their ranks; 0 for those not returned.

    With a cut-off, articles beyond it count as not returned; the divisor stays the number of all relevant articles, as
    in trec_eval's ``map_cut``.
    """
    found, needed = relevant(m, rel)
    kept = slice(None) if at is None else found.rank <= at
    return based(m, rel, ratio(total(precisions(m, rel)[1][kept], found.topic[kept], m.topics), needed))


def interpolated_precision(m: Matched, at: Fraction, rel: float, rule: str) -> Floats:
    """Return the highest precision at or below the rank where a share of the relevant articles is found.

    How many of R articles a level *x* asks for is computed in floating point, as in trec_eval: ⌊xR + 0.9⌋ to version 9
    and in pytrec_eval, which for one decimal mostly rounds up; since version 10 xR, rounded to the nearest.
    """
    (found, needed), (seen, value) = relevant(m, rel), precisions(m, rel)
    share = float(at) * needed
    need = np.floor(share + 0.9) if rule == "trec_eval9" else np.floor(share) + (share % 1 >= 0.5)
    kept = seen >= need[found.topic]
    best = np.zeros(m.topics)
    np.maximum.at(best, found.topic[kept], value[kept])
    return based(m, rel, best)


def set_precision(m: Matched, rel: float = 1) -> Floats:
    """Return relevant articles among all that were returned."""
    return based(m, rel, ratio(relevant_upto(m, None, rel), np.diff(m.a_bounds)))


def set_f(m: Matched, rel: float, beta: float) -> Floats:
    """Return the weighted harmonic mean of SetP and R; β is not squared, as in trec_eval."""
    p, r = set_precision(m, rel), recall(m, None, rel)
    return ratio((1 + beta) * p * r, beta * p + r)


def set_average_precision(m: Matched, rel: float) -> Floats:
    """Return SetP times R: average precision if every relevant article that was returned had the list's precision."""
    return set_precision(m, rel) * recall(m, None, rel)


def reciprocal_rank(m: Matched, at: int | None = None, rel: float = 1) -> Floats:
    """Return one divided by the rank of the first relevant article; 0 when there is none (among the first `at`)."""
    topic, rank = relevant(m, rel)[0].topic[::-1], relevant(m, rel)[0].rank[::-1]
    first = np.zeros(m.topics)
    first[topic] = (rank <= (at or len(m))) / rank  # backwards: the first rank is written last, and stays
    return based(m, rel, first)


def success(m: Matched, at: int, rel: float = 1) -> Floats:
    """Return 1 where a relevant article stands among the first `at`, else 0."""
    return based(m, rel, np.asarray(relevant_upto(m, at, rel) > 0, np.float64))


@once
def above(m: Matched, rel: float) -> tuple[Integers, Integers, Integers]:
    """Return how many articles stand above each relevant one: relevant, judged others, in the pool but not judged."""
    grades = m.prepared.gold.articles.relevance
    rows = np.flatnonzero(m.a_article < len(grades))
    grade, bounds = grades[m.a_article[rows]], np.searchsorted(rows, m.a_bounds)
    good = grade >= rel
    first, second, third = (running_count(own, bounds)[good] for own in (good, (grade >= 0) & ~good, grade < 0))
    return first - 1, second, third


def binary_preference(m: Matched, rel: float) -> Floats:
    """Return the share of pairs of a relevant and a judged other article that stand in the right order.

    As in trec_eval, at most as many other articles count as there are relevant ones; what nobody judged is ignored.
    """
    grade, (found, needed), (_, other, _) = m.prepared.gold.articles.relevance, relevant(m, rel), above(m, rel)
    most = needed[found.topic]
    others = m.prepared.per_topic((grade >= 0) & (grade < rel))[found.topic]
    right = 1 - ratio(np.minimum(other, most), np.minimum(others, most))
    return based(m, rel, ratio(total(right, found.topic, m.topics), needed))


def inferred_average_precision(m: Matched, rel: float) -> Floats:
    """Return AP, estimated where a sample of the pool was judged: a negative grade says "in the pool, not judged".

    Above a relevant article, articles outside the pool are not relevant, and those of the pool are relevant as often as
    the judged ones are.
    """
    (found, needed), (good, other, unjudged) = relevant(m, rel), above(m, rel)
    share = (good + EPSILON) / (good + other + 2 * EPSILON)
    expected = (1 + (good + other + unjudged) * share) / found.rank
    return based(m, rel, ratio(total(expected, found.topic, m.topics), needed))


def rank_biased_precision(m: Matched, rel: float, p: float, at: int | None = None) -> Floats:
    """Return the rate at which a reader finds relevant articles, going on to the next with probability `p`."""
    if p >= 1:
        raise MeasureError(f"RBP(p={number(p)}): expected a probability below 1")
    found, _ = relevant(m, rel)
    kept = slice(None) if at is None else found.rank <= at
    return based(m, rel, total((1 - p) * p ** (found.rank[kept] - 1.0), found.topic[kept], m.topics))


def expected_reciprocal_rank(m: Matched, max_rel: float, at: int | None = None) -> Floats:
    """Return the expected 1/rank at which a reader stops.

    An article of grade g satisfies with probability (2^g − 1) / 2^max. The highest grade of the scale is 4 in gdeval,
    and so in ir_measures, whatever grades the gold has.
    """
    found = m.found
    grade = m.prepared.gold.articles.relevance[found.article]
    if (most := m.prepared.gold.articles.relevance.max(initial=0)) > max_rel:
        raise MeasureError(f"ERR(max_rel={number(max_rel)}): the gold has a grade of {most}; write max_rel={most}")
    content = np.exp2(grade - max_rel) - np.exp2(-float(max_rel))
    bored = np.log1p(-content)
    reached = np.exp(running(bored, np.searchsorted(found.topic, np.arange(m.topics + 1))) - bored)
    kept = slice(None) if at is None else found.rank <= at
    return total((content * reached / found.rank)[kept], found.topic[kept], m.topics)


def judged_share(m: Matched, at: int | None = None) -> Floats:
    """Return the share of the first `at` articles (or of all) that the gold has a judgement of, whatever it says."""
    shown = np.diff(m.a_bounds) if at is None else np.minimum(np.diff(m.a_bounds), at)
    judged = (m.a_article < len(m.prepared.topic)) & (m.a_rank <= (at or len(m)))
    return ratio(np.bincount(m.a_topic[judged], minlength=m.topics), shown)


def ndcg(m: Matched, at: int | None = None) -> Floats:
    """Return discounted gain (the grade, over the binary logarithm of rank + 1) over that of the best order."""
    found, grades = m.found, m.prepared.gold.articles.relevance
    kept = slice(None) if at is None else found.rank <= at
    gain = total(grades[found.article[kept]] / np.log2(found.rank[kept] + 1), found.topic[kept], m.topics)
    best = np.flatnonzero(m.prepared.relevant & (m.prepared.topic >= 0))  # all relevant articles, by grade
    best = best[np.lexsort((-grades[best], m.prepared.topic[best]))]
    topic = m.prepared.topic[best]
    rank = np.arange(len(best)) - np.searchsorted(topic, topic) + 1
    kept = slice(None) if at is None else rank <= at
    return ratio(gain, total((grades[best] / np.log2(rank + 1))[kept], topic[kept], m.topics))


_REL = Parameter("rel", 1, "The least grade of a relevant document.", least=1)
_graded = partial(Measure, cite="voorhees2005trec", needs=("documents",))
_documents = partial(_graded, parameters=(_REL,))

MEASURES = (
    _documents("P", precision, "Precision of documents at a rank.", at=("rank",), at_required=True, perfect=False,
        aliases=("Precision", "precision"),
        formula=r"P@k = \frac{1}{k} \sum_{i \le k} rel(d_i)",
        example="Two of the first five articles are relevant: P@5 = 0.4."),
    _documents("R", recall, "Recall of documents at a rank, or over the whole list.", at=("rank",), perfect=False,
        aliases=("Recall", "recall", "SetR", "set_recall"),
        formula=r"R@k = \frac{1}{Numrel} \sum_{i \le k} rel(d_i)",
        example="Two of eight relevant articles are among the first five: R@5 = 0.25."),
    _documents("AP", average_precision, "Average precision of documents; its mean over topics is MAP.", at=("rank",),
        perfect_unless="a cut-off below the number of relevant documents", aliases=("MAP", "map", "map_cut"),
        formula=r"AP = \frac{1}{Numrel} \sum_{r:\, rel(d_r)} P@r",
        example="Relevant articles at ranks 1 and 3, two relevant in all: (1/1 + 2/3) / 2 = 0.8333."),
    _documents("GMAP", average_precision,
        "Average precision of documents, whose mean over topics is geometric, so that hard topics weigh more.",
        cite="robertson2006gmap", geometric=EPSILON, aliases=("gm_map",),
        formula=r"GMAP = \exp \frac{1}{T} \sum_{t} \ln \max(AP_t, 0.00001)",
        example="AP of two topics 0.4 and 0.1: GMAP = √(0.4 · 0.1) = 0.2, where MAP is 0.25."),
    _documents("RR", reciprocal_rank, "Reciprocal rank of the first relevant document.", at=("rank",),
        aliases=("MRR", "mrr", "recip_rank"),
        formula=r"RR = 1 / \min \{r : rel(d_r)\}", example="The first relevant article is at rank 4: RR = 0.25."),
    _graded("nDCG", ndcg, "Normalised discounted cumulated gain of graded documents, with linear gain.",
        cite="jarvelin2002cumulated", at=("rank",), aliases=("NDCG", "ndcg", "ndcg_cut"),
        formula=r"nDCG@k = \frac{\sum_{i \le k} g_i / \log_2(i+1)}{\sum_{i \le k} g^*_i / \log_2(i+1)}",
        example="Grades 0, 1 returned where 1 exists: (1 / log2 3) / 1 = 0.6309."),
    _documents("Rprec", r_precision,
        "Precision of documents at the rank that equals the number of relevant documents.", aliases=("RPrec",),
        formula=r"Rprec = P@Numrel",
        example="Three articles are relevant and two of them are in the first three ranks: 0.6667."),
    _documents("Success", success, "Whether a relevant document is among the first k.", at=("rank",), at_required=True,
        aliases=("HitRate", "hit_rate", "success"),
        formula=r"Success@k = [\sum_{i \le k} rel(d_i) > 0]",
        example="The first relevant article is at rank 4: Success@3 = 0, Success@5 = 1."),
    _documents("IPrec", interpolated_precision, "Highest precision of documents at or beyond a recall level.",
        at=("level",), at_required=True, aliases=("iprec_at_recall",),
        parameters=(_REL, Parameter("rule", "trec_eval9", "How many documents a level asks for, as in trec_eval to "
            "version 9 (and ir_measures), or since 10.", ("trec_eval9", "trec_eval10"))),
        formula=r"IPrec@x = \max \{P@r : R@r \ge x\}",
        example="Relevant articles at ranks 2 and 3, two in all: IPrec@0.5 = max(1/2, 2/3) = 0.6667."),
    _documents("Bpref", binary_preference,
        "Binary preference: relevant documents above judged documents that are not; unjudged ones are ignored.",
        cite="buckley2004retrieval", aliases=("BPref", "bpref"),
        formula=r"Bpref = \frac{1}{R} \sum_{r:\, rel(d_r)} (1 - \frac{\min(n_r, R)}{\min(N, R)})",
        example="Ranked: relevant, judged other, relevant; R = 2, N = 1: (1 + (1 − 1/1)) / 2 = 0.5."),
    _documents("infAP", inferred_average_precision,
        "Inferred average precision, where only a sample of the pool was judged (the rest has a grade of −1).",
        cite="yilmaz2006estimating", perfect=False,
        formula=r"infAP = \frac{1}{R} \sum_{k:\, rel(d_k)} (\frac{1}{k} + \frac{pooled_k}{k} \cdot "
        r"\frac{rel_k + \epsilon}{rel_k + nonrel_k + 2 \epsilon})",
        example="Ranked: relevant, in the pool but not judged, relevant; R = 2: (1 + (1/3 + 2/3 · 1)) / 2 = 1."),
    _documents("SetP", set_precision, "Precision of the whole list of documents.", aliases=("set_P",),
        formula=r"SetP = |ret \cap rel| / |ret|", example="Eight articles are returned, two of them relevant: 0.25."),
    _documents("SetF", set_f, "Harmonic mean of precision and recall of the whole list of documents.",
        parameters=(_REL, Parameter("beta", 1, "Weight of recall; not squared, as in trec_eval.", least=0)),
        aliases=("set_F",),
        formula=r"SetF = \frac{(1 + \beta) \cdot SetP \cdot R}{\beta \cdot SetP + R}",
        example="SetP 0.25, R 0.5: 2 · 0.125 / 0.75 = 0.3333."),
    _documents("SetAP", set_average_precision, "Precision times recall of the whole list of documents.",
        aliases=("set_map",), formula=r"SetAP = SetP \cdot R", example="SetP 0.25, R 0.5: 0.125."),
    _documents("RBP", rank_biased_precision, "Rank-biased precision of documents: a reader goes on with probability p.",
        cite="moffat2008rank", at=("rank",), perfect=False,
        parameters=(_REL, Parameter("p", 0.8, "Probability to go on to the next document.", always=True, least=0)),
        formula=r"RBP = (1 - p) \sum_{r:\, rel(d_r)} p^{r-1}",
        example="Relevant articles at ranks 1 and 3, p = 0.8: 0.2 · (1 + 0.64) = 0.328."),
    _graded("ERR", expected_reciprocal_rank, "Expected reciprocal rank: a reader stops at a document that satisfies.",
        cite="chapelle2009expected", at=("rank",), perfect=False,
        parameters=(Parameter("max_rel", 4, "The highest grade of the scale.", least=1),),
        formula=r"ERR@k = \sum_{r \le k} \frac{R_r}{r} \prod_{i < r} (1 - R_i), \; R_i = (2^{g_i} - 1) / 2^{max}",
        example="Grades 1 and 2, highest 4: 1/16 + (1/2) · (3/16) · (15/16) = 0.1504."),
    _graded("Judged", judged_share, "Share of the first documents that were judged.", cite="focuseval", at=("rank",),
        formula=r"Judged@k = |judged \cap ret_k| / |ret_k|",
        example="Three of the first five articles were judged: Judged@5 = 0.6; of a list of three, all: 1."),
)  # fmt: skip
