"""Fetch & browse (2005): how early each article shows its best elements.

Articles are ranked by generalised precision (`focuseval.measures.generalised`); here the elements of every article
are a list of their own, scored by effort-precision against the article's own recall base.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.measures.matching.elements import ElementMatch, match_rows
from focuseval.measures.measure import Measure
from focuseval.measures.topicwise import total
from focuseval.measures.xcg import BASE, IDEAL, QUANT, effort_precision, relevant_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.matched import Matched


def browse(m: Matched, quant: str = "auto", base: str = "auto") -> ElementMatch:
    """Return the results article by article: the match of `m`, with every judged article in place of a topic."""
    match = m.elements(quant, base)
    whole, articles = match.base, len(match.base.topic_of_article)
    by_article = np.lexsort((whole.code, whole.article))
    columns: dict[str, Any] = {name: getattr(whole, name)[by_article] for name in ("article", "code", "gain", "source")}
    apart = replace(whole, topics=articles, topic_of_article=np.arange(articles), topic=columns["article"], **columns)
    judged = np.flatnonzero(match.article >= 0)
    order = judged[np.argsort(match.article[judged], kind="stable")]
    article, code = match.article[order], match.code[order]
    bounds = np.searchsorted(article, np.arange(articles + 1)).astype(np.int64)
    return ElementMatch(apart, bounds, article, code, *match_rows(apart, article, code))


def browse_scores(m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank") -> NDArray[np.float64]:
    """Return MAep of every judged article (a row of ``gold.articles``), NaN where it has no relevant element."""
    match = browse(m, quant, base)
    return relevant_ratio(
        total(effort_precision(match, ideal), match.hit_topic, match.base.topics), match.base.full_list.length()
    )


def browse_effort_precision(
    m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank"
) -> NDArray[np.float64]:
    """Return the mean, over a topic's relevant articles, of the MAep of each article's elements; 0 if not returned.

    Every article is a list of its own: its elements as the run ranks them, against the article's own recall base.
    """
    scores = browse_scores(m, quant, base, ideal)
    here = np.flatnonzero(~np.isnan(scores))
    topic = m.prepared.assessed.topic_of_article[here]
    return relevant_ratio(total(scores[here], topic, m.topics), np.bincount(topic, minlength=m.topics))


MEASURES = (
    Measure(
        "browseMAep",
        browse_effort_precision,
        "MAep of the elements inside each relevant article, averaged over the topic's relevant articles.",
        "kazai2006extended",
        needs=("elements",),
        traits=("grouped output", "two dimensions"),
        parameters=(QUANT, BASE, IDEAL),
        formula=r"\frac{1}{|A|} \sum_{a \in A} MAep(a)",
        example="Two relevant articles, one not returned, the other's elements in ideal order: (1 + 0) / 2 = 0.5.",
        tasks=("fetch-browse",),
    ),
)
