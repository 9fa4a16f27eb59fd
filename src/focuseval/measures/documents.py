"""Measures of whole documents, equal to trec_eval's for every topic.

An article is relevant if it has a highlight, or a grade of 1 or more. Articles stand in order of first appearance.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.document_matching import ranks
from focuseval.measures.measure import Measure
from focuseval.measures.topicwise import ratio, total

if TYPE_CHECKING:
    from focuseval.measures.matching import Matched
    from focuseval.measures.topicwise import Floats, Integers


def relevant_upto(m: Matched, cutoff: Integers | int | None) -> Integers:
    """Return how many relevant articles stand within the first `cutoff` ranks of each topic."""
    topic = m.found.topic
    if cutoff is not None:
        topic = topic[m.found.rank <= np.broadcast_to(cutoff, (m.topics,))[topic]]
    return np.bincount(topic, minlength=m.topics)


def precision(m: Matched, at: int) -> Floats:
    r"""Return relevant articles among the first `at`, divided by `at` even when fewer were returned."""
    return relevant_upto(m, at) / at


def recall(m: Matched, at: int | None = None) -> Floats:
    """Return relevant articles among the first `at` (or all), divided by all relevant articles."""
    return ratio(relevant_upto(m, at), m.prepared.numrel)


def r_precision(m: Matched) -> Floats:
    """Return precision at the rank that equals the number of relevant articles."""
    return ratio(relevant_upto(m, m.prepared.numrel), m.prepared.numrel)


def average_precision(m: Matched, at: int | None = None) -> Floats:
    """Return the mean, over all relevant articles, of the precision at their ranks; 0 for those not returned.

    With a cut-off, articles beyond it count as not returned; the divisor stays the number of all relevant articles, as
    in trec_eval's ``map_cut``.
    """
    found = m.found
    seen = ranks(np.searchsorted(found.topic, np.arange(m.topics + 1)))
    kept = slice(None) if at is None else found.rank <= at
    return ratio(total((seen / found.rank)[kept], found.topic[kept], m.topics), m.prepared.numrel)


def reciprocal_rank(m: Matched, at: int | None = None) -> Floats:
    """Return one divided by the rank of the first relevant article; 0 when there is none (among the first `at`)."""
    topic, rank = m.found.topic[::-1], m.found.rank[::-1]
    if at is not None:
        topic, rank = topic[rank <= at], rank[rank <= at]
    first = np.zeros(m.topics)
    first[topic] = 1 / rank  # backwards: the first rank is written last, and stays
    return first


def success(m: Matched, at: int) -> Floats:
    """Return 1 where a relevant article stands among the first `at`, else 0."""
    return np.asarray(relevant_upto(m, at) > 0, np.float64)


def ndcg(m: Matched, at: int | None = None) -> Floats:
    """Return discounted gain (the grade, over the binary logarithm of rank + 1) over that of the best order."""
    found = m.found
    kept = slice(None) if at is None else found.rank <= at
    grade = m.prepared.gold.articles.relevance[found.article[kept]]
    gain = total(grade / np.log2(found.rank[kept] + 1), found.topic[kept], m.topics)
    return ratio(gain, ideal_dcg(m, at))


def ideal_dcg(m: Matched, at: int | None) -> Floats:
    """Return the discounted gain of all relevant articles in descending order of grade."""
    prepared = m.prepared
    rows = np.flatnonzero(prepared.relevant & (prepared.topic >= 0))
    grade, topic = prepared.gold.articles.relevance[rows], prepared.topic[rows]
    order = np.lexsort((-grade, topic))
    grade, topic = grade[order], topic[order]
    rank = np.arange(len(rows)) - np.searchsorted(topic, topic) + 1
    kept = slice(None) if at is None else rank <= at
    return total((grade / np.log2(rank + 1))[kept], topic[kept], m.topics)


_documents = partial(Measure, cite="voorhees2005trec", needs=("documents",))

MEASURES = (
    _documents("P", precision, "Precision of documents at a rank.", at=("rank",), at_required=True, perfect=False,
        aliases=("Precision", "precision"),
        formula=r"P@k = \frac{1}{k} \sum_{i \le k} rel(d_i)",
        example="Two of the first five articles are relevant: P@5 = 0.4."),
    _documents("R", recall, "Recall of documents at a rank, or over the whole list.", at=("rank",), perfect=False,
        aliases=("Recall", "recall"),
        formula=r"R@k = \frac{1}{Numrel} \sum_{i \le k} rel(d_i)",
        example="Two of eight relevant articles are among the first five: R@5 = 0.25."),
    _documents("AP", average_precision, "Average precision of documents; its mean over topics is MAP.", at=("rank",),
        perfect_unless="a cut-off below the number of relevant documents", aliases=("MAP", "map"),
        formula=r"AP = \frac{1}{Numrel} \sum_{r:\, rel(d_r)} P@r",
        example="Relevant articles at ranks 1 and 3, two relevant in all: (1/1 + 2/3) / 2 = 0.8333."),
    _documents("RR", reciprocal_rank, "Reciprocal rank of the first relevant document.", at=("rank",),
        aliases=("MRR", "mrr"),
        formula=r"RR = 1 / \min \{r : rel(d_r)\}",
        example="The first relevant article is at rank 4: RR = 0.25."),
    _documents("nDCG", ndcg, "Normalised discounted cumulated gain of graded documents, with linear gain.",
        cite="jarvelin2002cumulated", at=("rank",), aliases=("NDCG", "ndcg"),
        formula=r"nDCG@k = \frac{\sum_{i \le k} g_i / \log_2(i+1)}{\sum_{i \le k} g^*_i / \log_2(i+1)}",
        example="Grades 0, 1 returned where 1 exists: (1 / log2 3) / 1 = 0.6309."),
    _documents("Rprec", r_precision,
        "Precision of documents at the rank that equals the number of relevant documents.",
        formula=r"Rprec = P@Numrel",
        example="Three articles are relevant and two of them are in the first three ranks: 0.6667."),
    _documents("Success", success, "Whether a relevant document is among the first.", at=("rank",), at_required=True,
        aliases=("HitRate", "hit_rate"),
        formula=r"Success@k = [\sum_{i \le k} rel(d_i) > 0]",
        example="The first relevant article is at rank 4: Success@3 = 0, Success@5 = 1."),
)  # fmt: skip
