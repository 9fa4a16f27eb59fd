"""A recall base: the relevant elements of all topics, with their gains, as columns.

Rows stand by topic, then article, then in the order of their paths: pre-order, so an element's relevant
descendants are the rows from its own up to `RecallBase.last`.

Gains are summed as integers, multiples of `RecallBase.unit`: ``2**-44``, or the next power of two that lets the grand
total fit into 62 bits (beyond a total gain of 262,144, which no campaign has had). Such sums do not depend on their
order, on other topics, and never drift: an ideal run's cumulated gain *equals* the ideal's. A gain in units is off by
less than 9/16 of a unit (half a unit from rounding to units, at most ``2**-52`` from rounding the fraction to a
double), so two sums of at most n gains that are equal as fractions differ by less than ``2 n`` units: about ``2e-10``
for a list of 1500, far below any gain. Comparisons of sums allow for it (`SLACK`), so that 1/3 + 1/3 + 1/3, or ten
times 1/10, reach 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from focuseval.engine.keys import Lookup
from focuseval.engine.lazy import cached_property
from focuseval.measures.recall_base.ideal import ideal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.recall_base.tree import PathTree


def running(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the running sum with a leading 0, so that a block's sum is the difference of two entries.

    >>> running(np.array([3, 4]))
    array([0, 3, 7])
    """
    total = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return total


def row_keys(
    tree: PathTree, topic_of_article: NDArray[np.int64], article: NDArray[np.integer], code: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Join topic, article and path code into one number: its order is that of a recall base's rows."""
    place = topic_of_article[article] * len(topic_of_article) + article
    return np.asarray(place * (len(tree) + 1) + code)


SLACK = 2
"""Units that a comparison of two sums allows for every gain of the longer one."""


class Ideal(NamedTuple):
    """Gains in descending order, cumulated over all topics on end: what the best list would gather."""

    bounds: NDArray[np.int64]
    """Where each topic's gains begin, and the end of the last."""
    gain: NDArray[np.int64]
    """In units, descending within each topic."""
    reach: NDArray[np.int64]
    """Running sum of `gain`, with a leading 0: topic t has gathered ``reach[bounds[t] + i] - reach[bounds[t]]``."""

    def total(self) -> NDArray[np.int64]:
        """Return each topic's total gain, in units."""
        return np.asarray(self.reach[self.bounds[1:]] - self.reach[self.bounds[:-1]])

    def length(self) -> NDArray[np.int64]:
        """Return the number of each topic's elements."""
        return np.diff(self.bounds)

    def upto(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what each topic's ideal list has gathered at ranks, in units: topics × ranks."""
        end = np.minimum(self.bounds[:-1, None] + ranks, self.bounds[1:, None])
        return np.asarray(self.reach[end] - self.reach[self.bounds[:-1, None]])


@dataclass(frozen=True, eq=False)
class RecallBase:
    """Relevant elements of every topic; see the module's text for the order of rows and for units."""

    tree: PathTree
    topics: int
    """Number of topics."""
    topic_of_article: NDArray[np.int64]
    """For every judged article (a row of ``gold.articles``), its topic; −1 where the topic does not count."""
    topic: NDArray[np.int64]
    article: NDArray[np.int32]
    """The element's article: a row of ``gold.articles``."""
    code: NDArray[np.int32]
    """The element's path, as a code of `tree`."""
    gain: NDArray[np.float64]
    """Above 0: an element without gain is not in the base."""
    source: NDArray[np.int32]
    """The element's row in the assessments that the base was built from."""

    def __len__(self) -> int:
        """Return the number of relevant elements."""
        return len(self.topic)

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """Where each topic's rows begin, and the end of the last."""
        return np.searchsorted(self.topic, np.arange(self.topics + 1)).astype(np.int64)

    @cached_property
    def key(self) -> NDArray[np.int64]:
        """One number for every row, increasing; see `key_of`."""
        return self.key_of(self.article, self.code)

    @cached_property
    def lookup(self) -> Lookup:
        """Finds the row of a key."""
        return Lookup(self.key)

    def key_of(self, article: NDArray[np.integer], code: NDArray[np.integer]) -> NDArray[np.int64]:
        """Join an article and a path code into one number that sorts as the rows do."""
        return row_keys(self.tree, self.topic_of_article, article, code)

    def within(
        self, article: NDArray[np.integer], code: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the range of rows inside each element of an article, whether or not the element is in the base."""
        return self._place(article, code), self._place(article, self.tree.last[code])

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """One past the row of the element's last relevant descendant."""
        return self._place(self.article, self.tree.last[self.code])

    @cached_property
    def unit(self) -> float:
        """The size of one unit of gain: a power of two."""
        return math.ldexp(1.0, max(math.frexp(float(self.gain.sum()))[1] - 62, -44))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Gains in units."""
        return np.rint(self.gain / self.unit).astype(np.int64)

    @cached_property
    def ideal(self) -> NDArray[np.int64]:
        """Rows of the ideal recall base."""
        return ideal_rows(self.gain, self.last)

    @cached_property
    def related(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every row, the range of `ideal` on its paths: itself or its one ancestor, else its descendants."""
        before = np.zeros(len(self) + 1, np.int32)  # how many ideal elements stand before each row
        before[self.ideal + 1] = 1
        np.cumsum(before, out=before)
        ends = np.append(0, self.last[self.ideal])[before[1:]]  # of the last ideal element up to each row
        inside = np.arange(len(self)) < ends
        return np.where(inside, before[1:] - 1, before[:-1]), np.where(inside, before[1:], before[self.last])

    @cached_property
    def full_list(self) -> Ideal:
        """The list of all relevant elements, best first."""
        return self._descending(self.units, self.topic)

    @cached_property
    def ideal_list(self) -> Ideal:
        """The list of the ideal elements, best first."""
        return self._descending(self.units[self.ideal], self.topic[self.ideal])

    def _place(self, article: NDArray[np.integer], code: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the first row at or after each path code of an article."""
        return np.searchsorted(self.key, self.key_of(article, code)).astype(np.int64)

    def _descending(self, gain: NDArray[np.int64], topic: NDArray[np.int64]) -> Ideal:
        bounds = np.searchsorted(topic, np.arange(self.topics + 1)).astype(np.int64)
        gain = gain[np.lexsort((-gain, topic))]
        return Ideal(bounds, gain, running(gain))
