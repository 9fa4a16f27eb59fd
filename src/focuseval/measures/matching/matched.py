"""Run × gold → one table of matched results, all topics at once.

Rows are the run's results of the counted topics, cut at the policy's cut-off, in rank order, one block per counted
topic in the gold's order (`bounds`). The *article view* (columns ``a_…``) has one row per article that the run
returned, in order of first appearance, blocked by `a_bounds`. A column is made when a measure first asks for it, so
that measures of documents never touch a span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.measures.matching.results import Results, ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.elements import ElementMatch


@dataclass(frozen=True, eq=False)
class Found:
    """The relevant articles that a run returned, in rank order: all that measures of documents look at."""

    article: NDArray[np.int64]
    """Row of ``gold.articles``."""
    topic: NDArray[np.int64]
    rank: NDArray[np.int64]
    """Rank among the articles of the topic, from 1."""


@dataclass(frozen=True, eq=False)
class Matched(Results):
    """One run against one gold; what every measure is computed from: results, and the articles they are in."""

    @cached_property
    def found(self) -> Found:
        """The relevant articles among those returned."""
        if self.documents.distinct:
            article = self.known[self.hits].astype(np.int64)
            topic = self.prepared.topic[article].astype(np.int64)
            return Found(article, topic, self.hits - self.bounds[topic] + 1)
        rows = np.flatnonzero(self.a_relevant)
        return Found(self.a_article[rows], self.a_topic[rows].astype(np.int64), self.a_rank[rows])

    @cached_property
    def a_first(self) -> NDArray[np.int64]:
        """For every returned article, the row of its first result."""
        if self.documents.distinct:
            return np.arange(len(self))
        first = np.full(int(self.article.max(initial=-1)) + 1, -1, np.int64)
        backwards = np.arange(len(self) - 1, -1, -1)
        first[self.article[backwards]] = backwards  # of equal articles the last assignment, the first row, stays
        return np.sort(first[first >= 0])

    @cached_property
    def a_bounds(self) -> NDArray[np.int64]:
        """Where each counted topic's block of articles begins, and the end of the last."""
        if self.documents.distinct:
            return self.bounds
        return np.searchsorted(self.a_first, self.bounds).astype(np.int64)

    @cached_property
    def a_topic(self) -> NDArray[np.int32]:
        """For every returned article, its counted topic."""
        return self.topic[self.a_first]

    @cached_property
    def a_rank(self) -> NDArray[np.int64]:
        """For every returned article, its rank among the articles of its topic, from 1."""
        return ranks(self.a_bounds)

    @cached_property
    def a_article(self) -> NDArray[np.int64]:
        """For every returned article, its code (see `article`)."""
        return self.article[self.a_first]

    @cached_property
    def a_of_result(self) -> NDArray[np.int64]:
        """For every result, its row in the article view."""
        row = np.empty(int(self.article.max(initial=-1)) + 1, np.int64)
        row[self.a_article] = np.arange(len(self.a_first))
        return row[self.article]

    @cached_property
    def a_relevant(self) -> NDArray[np.bool_]:
        """For every returned article, whether it is relevant."""
        return self.of_gold(self.prepared.relevant, missing=False)

    @cached_property
    def a_grade(self) -> NDArray[np.int64]:
        """For every returned article, its grade; 0 for the unjudged."""
        return self.of_gold(self.prepared.gold.articles.relevance, missing=0)

    @cached_property
    def a_size(self) -> NDArray[np.int64]:
        """For every returned article, the characters returned from it, each once."""
        return self._by_article(self.cost)

    @cached_property
    def a_rsize(self) -> NDArray[np.int64]:
        """For every returned article, its highlighted characters that were returned, each once."""
        return self._by_article(self.new_rsize)

    @cached_property
    def a_trel(self) -> NDArray[np.int64]:
        """For every returned article, its highlighted characters."""
        return self.of_gold(self.prepared.trel, missing=0)

    @cached_property
    def a_length(self) -> NDArray[np.int64]:
        """For every returned article, the document's characters; −1 where nobody says."""
        return self.of_gold(self.prepared.length, missing=-1)

    @cached_property
    def a_entry(self) -> NDArray[np.int64]:
        """For every returned article, the entry point: where its first result starts; −1 where unknown."""
        return self.places.entry[self.a_first]

    @cached_property
    def a_bep(self) -> NDArray[np.int64]:
        """For every returned article, its best entry point; −1 where there is none."""
        return self.of_gold(self.prepared.bep, missing=-1)

    def of_gold(self, column: NDArray[Any], missing: int) -> NDArray[Any]:
        """Return a column of the gold's articles for every returned article; `missing` for the unjudged."""
        found = np.full(len(self.a_article), missing, column.dtype)
        known = np.flatnonzero(self.a_article < len(column))
        found[known] = column[self.a_article[known]]
        return found

    def _by_article(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(len(self.a_first), np.int64)
        np.add.at(total, self.a_of_result, values)
        return total

    # -- elements -----------------------------------------------------------------------------------------------

    def elements(self, quant: str, base: str) -> ElementMatch:
        """Return the results as elements of a recall base (`matching.elements`), made once for each pair."""
        if (quant, base) not in self.element_matches:
            from focuseval.measures.matching.elements import match_elements  # noqa: PLC0415  only element measures pay for it

            self.element_matches[quant, base] = match_elements(self, quant, base)
        return self.element_matches[quant, base]

    @cached_property
    def element_matches(self) -> dict[tuple[str, str], ElementMatch]:
        """The recall bases that measures have asked for so far, by quantisation and base."""
        return {}

    @cached_property
    def path_codes(self) -> NDArray[np.int64]:
        """For every result, its path as a code of the assessed elements' tree; see `matching.elements`."""
        from focuseval.measures.matching.elements import path_codes  # noqa: PLC0415  as above

        return path_codes(self)

    @cached_property
    def made(self) -> dict[str, Any]:
        """What measures have computed from this match and may need again, by name."""
        return {}
