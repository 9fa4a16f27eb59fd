"""Run × gold → one table of matched results, all topics at once.

Rows are the run's results of the counted topics, cut at the policy's cut-off, in rank order, one block per counted
topic in the gold's order (`bounds`). The *article view* (columns ``a_…``) has one row per article that the run
returned, in order of first appearance, blocked by `a_bounds`. A column is made when a measure first asks for it, so
that measures of documents never touch a span.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.match.articles import group_articles
from focuseval.match.places import Places, place
from focuseval.spans import unseen

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.match.policies import Policies
    from focuseval.match.prepared import Prepared
    from focuseval.run import Run


@dataclass(frozen=True)
class Matched:
    """One run against one gold; what every measure is computed from."""

    prepared: Prepared
    run: Run
    policies: Policies
    rows: NDArray[np.int64] | None
    """Rows of the run that are looked at, in this table's order; None for all of them as they stand."""
    bounds: NDArray[np.int64]
    """Where each counted topic's block begins, and one more entry for the end of the last."""
    chunks: Any = None
    """All chunks of the chunker, for `ceiling`; a `Chunks` value or None."""

    def __len__(self) -> int:
        """Return the number of results."""
        return int(self.bounds[-1])

    @property
    def topics(self) -> int:
        """The number of counted topics."""
        return len(self.bounds) - 1

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """For every counted topic, whether the run returned anything."""
        return np.diff(self.bounds) > 0

    @cached_property
    def topic(self) -> NDArray[np.int32]:
        """For every result, its counted topic."""
        return np.repeat(np.arange(self.topics, dtype=np.int32), np.diff(self.bounds))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """For every result, its rank in its topic, from 1."""
        return ranks(self.bounds)

    def column(self, values: Any) -> Any:
        """Return a column of the run (NumPy or Arrow) in this table's order."""
        return values if self.rows is None else values.take(self.rows)

    @cached_property
    def path(self) -> pa.Array | None:
        """Element paths, or None when the run has none."""
        return None if self.run.path is None else self.column(self.run.path)

    # -- which article ------------------------------------------------------------------------------------------

    @cached_property
    def article(self) -> NDArray[np.int64]:
        """For every result, its article: a row of ``gold.articles``, or a number beyond for unjudged pairs."""
        return group_articles(self)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """For every result, whether an assessor judged its document for its topic."""
        return np.asarray(self.article < len(self.prepared.topic))

    @cached_property
    def unjudged(self) -> int:
        """How many results no assessor judged."""
        return len(self) - int(np.count_nonzero(self.judged))

    # -- which characters ---------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> Places:
        """Start and end of every result."""
        return place(self)

    @property
    def start(self) -> NDArray[np.int64]:
        """For every result, its first character."""
        return self.places.start

    @property
    def end(self) -> NDArray[np.int64]:
        """For every result, one past its last character."""
        return self.places.end

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """For every result, its characters."""
        return self.end - self.start

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """Rows of the results whose article is relevant: all others hold no highlighted character."""
        known = np.flatnonzero(self.judged)
        return known[self.prepared.relevant[self.article[known]]]

    @cached_property
    def rsize(self) -> NDArray[np.int64]:
        """For every result, its highlighted characters."""
        found = np.zeros(len(self), np.int64)
        hits = self.hits
        found[hits] = self.prepared.highlights.covered(self.article[hits], self.start[hits], self.end[hits])
        return found

    @cached_property
    def new_size(self) -> NDArray[np.int64]:
        """For every result, the characters that no earlier rank of its topic returned."""
        return unseen(self.article, self.start, self.end)

    @cached_property
    def new_rsize(self) -> NDArray[np.int64]:
        """For every result, the highlighted characters that no earlier rank of its topic returned."""
        found = np.zeros(len(self), np.int64)
        hits = self.hits
        again = self.new_size[hits] < self.size[hits]
        found[hits[~again]] = self.rsize[hits[~again]]
        if again.any():
            crowded = np.isin(self.article[hits], self.article[hits[again]])
            rows = hits[crowded]
            found[rows] = unseen(self.article[rows], self.start[rows], self.end[rows], self.prepared.highlights)
        return found

    # -- the article view ---------------------------------------------------------------------------------------

    @cached_property
    def a_first(self) -> NDArray[np.int64]:
        """For every returned article, the row of its first result."""
        first = np.full(int(self.article.max(initial=-1)) + 1, -1, np.int64)
        backwards = np.arange(len(self) - 1, -1, -1)
        first[self.article[backwards]] = backwards  # of equal articles the last assignment, the first row, stays
        return np.sort(first[first >= 0])

    @cached_property
    def a_bounds(self) -> NDArray[np.int64]:
        """Where each counted topic's block of articles begins, and the end of the last."""
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
        return self._by_article(self.new_size)

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

    def elements(self, quant: str, base: str) -> Any:
        """Return the results as elements of a recall base (`focuseval.match.elements`), made once for each pair."""
        made: dict[tuple[str, str], Any] = self.__dict__.setdefault("_elements", {})
        if (quant, base) not in made:
            from focuseval.match.elements import match_elements  # noqa: PLC0415  only element measures pay for it

            made[quant, base] = match_elements(self, self.prepared, quant, base)
        return made[quant, base]


def ranks(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1, 2, … within each block.

    >>> ranks(np.array([0, 2, 2, 5]))
    array([1, 2, 1, 2, 3])
    """
    return np.arange(1, bounds[-1] + 1) - np.repeat(bounds[:-1], np.diff(bounds))
