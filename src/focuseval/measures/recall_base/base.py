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
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.engine.lazy import cached_property
from focuseval.engine.native import Lookup
from focuseval.measures.topicwise import cumulated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


_PARENT = r"/[^/]*$"
_UNNUMBERED = r"([^\]/])(/|$)"


@dataclass(frozen=True, eq=False)
class PathTree:
    """Distinct paths and all their ancestors, sorted; a path's *code* is its place here.

    Every step of a path ends in ``]``, so the plain order of the strings puts an element before its descendants and its
    descendants in one unbroken block: all strings that begin with ``/a[1]/`` follow ``/a[1]`` at once. (It is not the
    order of the text, ``sec[10]`` stands before ``sec[2]``, but ancestry is all that recall bases need.)
    """

    path: pa.Array
    depth: NDArray[np.int64]
    """Steps of the path, 1 for a root."""
    last: NDArray[np.int64]
    """One past the code of the path's last descendant."""

    def __len__(self) -> int:
        """Return the number of paths."""
        return len(self.path)

    def find(self, paths: Any) -> NDArray[np.int64]:
        """Return the code of every path of an Arrow string or dictionary array, −1 where there is none.

        A step without its ``[n]`` means ``[1]``.

        >>> path_tree(pa.array(["/a[1]/b[2]"])).find(pa.array(["/a[1]", "/a/b[2]", "/c[1]", None]))
        array([ 0,  1, -1, -1])
        """
        if isinstance(paths, pa.ChunkedArray):
            paths = paths.unify_dictionaries().combine_chunks() if paths.num_chunks != 1 else paths.chunk(0)
        if not isinstance(paths, pa.DictionaryArray):
            paths = paths.dictionary_encode()  # a run says the same few paths again and again
        found = pc.index_in(numbered(paths.dictionary), value_set=self.path).fill_null(-1)
        places = paths.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
        return np.asarray(np.append(np.asarray(found, np.int64), -1)[places], np.int64)

    def tagged(self, tags: Iterable[str]) -> NDArray[np.bool_]:
        """Return which elements bear one of the tag names.

        >>> path_tree(pa.array(["/a[1]/weblink[2]/b[1]"])).tagged(["weblink"])
        array([False,  True, False])
        """
        names = "|".join(re.escape(tag) for tag in tags)
        if not names:
            return np.zeros(len(self), np.bool_)
        return np.asarray(pc.match_substring_regex(self.path, rf"/(?:{names})\[\d+\]$"))


def numbered(paths: Any) -> Any:
    """Return the paths as large strings, every step with its ``[n]``."""
    strings = paths.cast(pa.large_string())
    if pc.any(pc.match_substring_regex(strings, _UNNUMBERED)).as_py():
        return pc.replace_substring_regex(strings, _UNNUMBERED, r"\1[1]\2")
    return strings


def path_tree(paths: Any) -> PathTree:
    """Return the tree of the given paths and all their ancestors."""
    known = newest = pc.unique(numbered(paths).drop_null())
    while len(newest):
        parents = pc.unique(pc.replace_substring_regex(newest, _PARENT, ""))
        fresh = pc.and_(pc.greater(pc.utf8_length(parents), 0), pc.invert(pc.is_in(parents, known)))
        newest = parents.filter(fresh)
        known = pa.concat_arrays([known, newest])
    path = known.take(pc.sort_indices(known))
    depth = np.asarray(pc.count_substring(path, "/"), np.int64)
    return PathTree(path, depth, _subtree_ends(depth))


def _subtree_ends(depth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each subtree ends: at the next node that is not deeper. Nodes stand in pre-order, ancestors included."""
    last = np.full(len(depth), len(depth), np.int64)
    for level in range(1, int(depth.max(initial=0)) + 1):
        shallow = np.flatnonzero(depth <= level)
        here = depth[shallow] == level
        following = np.append(shallow[1:], len(depth))
        last[shallow[here]] = following[here]
    return last


def ideal_rows(gain: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the ideal elements, given gains in pre-order and the ends of subtrees.

    On every path from an article's root to a relevant leaf (a relevant element without a relevant descendant) the
    element with the highest gain is kept, of equal ones the one nearer the root; then, of two kept elements where one
    contains the other, the one nearer the root stays (Lalmas & Tombros 2007, section 3.3).

    A section of gain 1/2 with paragraphs of gains 1 and 1/4: the second paragraph's path would keep the section,
    which contains the first paragraph's choice and so replaces it.

    >>> ideal_rows(np.array([0.5, 1.0, 0.25]), np.array([3, 2, 3]))
    array([0])
    >>> ideal_rows(np.array([0.5, 1.0, 0.75]), np.array([3, 2, 3]))
    array([1, 2])
    """
    rows = np.arange(len(gain))
    chosen = np.zeros(len(gain), np.bool_)
    chosen[_best_on_path(gain, last)[last == rows + 1]] = True
    kept = np.flatnonzero(chosen)
    outermost = np.ones(len(kept), np.bool_)
    outermost[1:] = kept[1:] >= np.maximum.accumulate(last[kept])[:-1]
    return kept[outermost]


def _best_on_path(gain: NDArray[np.float64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every row, the row of highest gain among its ancestors and itself, ties to the one nearer the root.

    One pass per depth level, from the top; depth counts ancestors among these rows, however many steps lie between.
    """
    best = np.arange(len(gain), dtype=np.int64)
    depth = nesting(last)
    above = np.flatnonzero(depth == 1)
    for level in range(2, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        parent = above[np.searchsorted(above, here) - 1]
        best[here] = np.where(gain[here] > gain[best[parent]], here, best[parent])
        above = here
    return best


def nesting(last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows contain each row, itself included, given the ends of subtrees in pre-order.

    >>> nesting(np.array([4, 3, 3, 4, 5]))
    array([1, 2, 3, 2, 1])
    """
    ended = np.bincount(last, minlength=len(last) + 1)[: len(last)]
    return np.asarray(np.arange(1, len(last) + 1) - np.cumsum(ended, out=ended))


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
        return Ideal(bounds, gain, cumulated(gain))
