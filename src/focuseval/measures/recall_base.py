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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.data.spans import spread
from focuseval.engine.lazy import cached_property
from focuseval.engine.native import Lookup, encoded
from focuseval.measures.topicwise import Flags, Floats, Integers, first_row

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
    depth: Integers  # steps of the path, 1 for a root
    last: Integers  # one past the code of the path's last descendant

    def __len__(self) -> int:
        """Return the number of paths."""
        return len(self.path)

    def find(self, paths: Any) -> Integers:
        """Return the code of every path of an Arrow string or dictionary array, −1 where there is none.

        A step without its ``[n]`` means ``[1]``.

        >>> path_tree(pa.array(["/a[1]/b[2]"])).find(pa.array(["/a[1]", "/a/b[2]", "/c[1]", None]))
        array([ 0,  1, -1, -1])
        """
        paths = encoded(paths)  # a run says the same few paths again and again
        found = pc.index_in(numbered(paths.dictionary), value_set=self.path).fill_null(-1)
        places = paths.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
        return np.asarray(np.append(np.asarray(found, np.int64), -1)[places], np.int64)

    def tagged(self, tags: Iterable[str]) -> Flags:
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
    last = np.full(len(depth), len(depth), np.int64)
    for level in range(1, int(depth.max(initial=0)) + 1):
        shallow = np.flatnonzero(depth <= level)
        here = depth[shallow] == level
        following = np.append(shallow[1:], len(depth))
        last[shallow[here]] = following[here]  # a subtree ends at the next node that is not deeper
    return PathTree(path, depth, last)


def ideal_rows(gain: Floats, last: Integers) -> Integers:
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
    best = np.arange(len(gain), dtype=np.int64)  # for every row, that of highest gain among its ancestors and itself
    leaf = last == best + 1
    for here, parent in levels_below(last):
        best[here] = np.where(gain[here] > gain[best[parent]], here, best[parent])
    chosen = np.zeros(len(gain), np.bool_)
    chosen[best[leaf]] = True
    kept = np.flatnonzero(chosen)
    outermost = np.ones(len(kept), np.bool_)
    outermost[1:] = kept[1:] >= np.maximum.accumulate(last[kept])[:-1]
    return kept[outermost]


def levels_below(last: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield the rows of each level of nesting but the first, and the rows around them, given the ends of subtrees.

    Rows stand in pre-order; a level counts ancestors among these rows, however many steps lie between.

    >>> [(here.tolist(), parent.tolist()) for here, parent in levels_below(np.array([4, 3, 3, 4, 5]))]
    [([1, 3], [0, 0]), ([2], [1])]
    """
    ended = np.bincount(last, minlength=len(last) + 1)[: len(last)]
    depth = np.arange(1, len(last) + 1) - np.cumsum(ended, out=ended)
    above = np.flatnonzero(depth == 1)
    for level in range(2, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        yield here, above[np.searchsorted(above, here) - 1]
        above = here


def row_keys(
    tree: PathTree, topic_of_article: Integers, article: NDArray[np.integer], code: NDArray[np.integer]
) -> Integers:
    """Join topic, article and path code into one number: its order is that of a recall base's rows."""
    place = topic_of_article[article] * len(topic_of_article) + article
    return np.asarray(place * (len(tree) + 1) + code)


SLACK = 2  # units that a comparison of two sums allows for every gain of the longer one


class Ideal(NamedTuple):
    """Gains in descending order, cumulated over all topics on end: what the best list would gather."""

    bounds: Integers  # where each topic's gains begin, and the end of the last
    gain: Integers  # in units, descending within each topic
    reach: Integers
    """Running sum of `gain`, with a leading 0: topic t has gathered ``reach[bounds[t] + i] - reach[bounds[t]]``."""

    def total(self) -> Integers:
        """Return each topic's total gain, in units."""
        return np.asarray(self.reach[self.bounds[1:]] - self.reach[self.bounds[:-1]])

    def length(self) -> Integers:
        """Return the number of each topic's elements."""
        return np.diff(self.bounds)

    def upto(self, ranks: Integers) -> Integers:
        """Return what each topic's ideal list has gathered at ranks, in units: topics × ranks."""
        end = np.minimum(self.bounds[:-1, None] + ranks, self.bounds[1:, None])
        return np.asarray(self.reach[end] - self.reach[self.bounds[:-1, None]])


@dataclass(frozen=True, eq=False)
class RecallBase:
    """Relevant elements of every topic; see the module's text for the order of rows and for units."""

    tree: PathTree
    topics: int  # number of topics
    topic_of_article: Integers
    """For every judged article (a row of ``gold.articles``), its topic; −1 where the topic does not count."""
    topic: Integers
    article: NDArray[np.int32]  # the element's article: a row of ``gold.articles``
    code: NDArray[np.int32]  # the element's path, as a code of `tree`
    gain: Floats  # above 0: an element without gain is not in the base
    source: NDArray[np.int32]  # the element's row in the assessments that the base was built from

    def __len__(self) -> int:
        """Return the number of relevant elements."""
        return len(self.topic)

    @cached_property
    def key(self) -> Integers:
        """One number for every row, increasing; see `key_of`."""
        return self.key_of(self.article, self.code)

    @cached_property
    def lookup(self) -> Lookup:
        """Finds the row of a key."""
        return Lookup(self.key)

    def key_of(self, article: NDArray[np.integer], code: NDArray[np.integer]) -> Integers:
        """Join an article and a path code into one number that sorts as the rows do."""
        return row_keys(self.tree, self.topic_of_article, article, code)

    def within(self, article: NDArray[np.integer], code: NDArray[np.integer]) -> tuple[Integers, Integers]:
        """Return the range of rows inside each element of an article, whether or not the element is in the base."""
        return self._place(article, code), self._place(article, self.tree.last[code])

    @cached_property
    def last(self) -> Integers:
        """One past the row of the element's last relevant descendant."""
        return self._place(self.article, self.tree.last[self.code])

    @cached_property
    def unit(self) -> float:
        """The size of one unit of gain: a power of two."""
        return math.ldexp(1.0, max(math.frexp(float(self.gain.sum()))[1] - 62, -44))

    def in_gain(self, units: Integers, summands: Integers | int) -> Floats:
        """Return sums of so many gains as gains: the decimal fraction (to nine places) that rounding to units hides.

        1 + .9 of a quantisation is 1.9, not the 1.8999999999999773 that its units add up to.
        """
        value = units * self.unit
        short = np.round(value, 9)
        return np.where(np.abs(short - value) <= np.asarray(summands) * self.unit, short, value)

    @cached_property
    def units(self) -> Integers:
        """Gains in units."""
        return np.rint(self.gain / self.unit).astype(np.int64)

    @cached_property
    def ideal(self) -> Integers:
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

    def _place(self, article: NDArray[np.integer], code: NDArray[np.integer]) -> Integers:
        """Return the first row at or after each path code of an article."""
        return np.searchsorted(self.key, self.key_of(article, code)).astype(np.int64)

    def _descending(self, gain: Integers, topic: Integers) -> Ideal:
        bounds = np.searchsorted(topic, np.arange(self.topics + 1)).astype(np.int64)
        gain = gain[np.lexsort((-gain, topic))]
        return Ideal(bounds, gain, np.append(0, np.cumsum(gain)))

    def match(self, bounds: Integers, article: Integers, code: Integers) -> ElementMatch:
        """Return a run's results, given their judged articles and path codes, as elements of this base."""
        here = np.flatnonzero((code >= 0) & (article >= 0))
        row = np.full(len(code), -1, np.int64)
        row[here] = self.lookup.find(self.key_of(article[here], code[here]))
        kept = np.where(first_row(row + 1) == np.arange(len(row)), row, -1)
        repeated = int(np.count_nonzero(row >= 0) - np.count_nonzero(kept >= 0))
        return ElementMatch(self, bounds, article, code, kept, repeated)


@dataclass(frozen=True, eq=False)
class ElementMatch:
    """One run's results against one recall base, made once per run, quantisation and base.

    A result gains the first time that its topic's list returns the element; results that are not in the base, and
    repeats, gain 0. Gains are integers, multiples of ``base.unit``.
    """

    base: RecallBase
    bounds: Integers  # where each topic's results begin, and the end of the last
    article: Integers  # for every result, its judged article (a row of ``gold.articles``), or −1
    code: Integers
    """For every result, its path as a code of ``base.tree``, −1 where no assessed element has or extends it."""
    row: Integers  # for every result, its row in the base, −1 where it is not relevant or was returned before
    repeated: int = 0  # relevant results that were returned before: they gain nothing the second time
    computed: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What measures have computed from this match and may need again; see `focuseval.measures.topicwise.once`."""

    @cached_property
    def hits(self) -> Integers:
        """The results that gain, in rank order."""
        return np.flatnonzero(self.row >= 0)

    @cached_property
    def hit_topic(self) -> Integers:
        """For every hit, its topic."""
        return self.base.topic[self.row[self.hits]]

    @cached_property
    def hit_gain(self) -> Integers:
        """For every hit, its gain in units."""
        return self.base.units[self.row[self.hits]]

    @cached_property
    def gathered(self) -> Integers:
        """Running sum of `hit_gain` over all topics on end, with a leading 0."""
        return np.append(0, np.cumsum(self.hit_gain))

    @cached_property
    def normalised(self) -> Integers:
        r"""Running sum, with a leading 0, of what each hit adds to the ideal elements on its path, in units.

        .. math:: xG_{norm}[j] = \max(0, \min(xG[j],\; xG[ideal] - \sum_{k \in S} xG[k]))

        `S` are the earlier results that overlap the ideal element. A hit that contains several ideal elements takes the
        one that leaves it most, and overlaps each of them.
        """
        base, row = self.base, self.row[self.hits]
        first, upto = base.related
        count = upto[row] - first[row]
        hit, ideal = np.repeat(np.arange(len(row)), count), spread(first[row], count)
        order = np.argsort(ideal, kind="stable")  # by ideal element, then in rank order
        gain, ideal = self.hit_gain[hit[order]], ideal[order]
        left = np.empty(len(order), np.int64)
        before = np.cumsum(gain) - gain  # of all earlier results, then only of those that overlap the ideal element
        begins = np.flatnonzero(np.diff(ideal, prepend=-1))
        before -= np.repeat(before[begins], np.diff(np.r_[begins, len(ideal)]))
        left[order] = base.units[base.ideal[ideal]] - before
        best = np.maximum.reduceat(left, np.cumsum(count) - count) if len(row) else left
        return np.append(0, np.cumsum(np.maximum(0, np.minimum(self.hit_gain, best))))

    @cached_property
    def hit_bounds(self) -> Integers:
        """Where each topic's hits begin, and the end of the last."""
        return np.searchsorted(self.hits, self.bounds).astype(np.int64)

    @cached_property
    def hit_reach(self) -> Integers:
        """For every hit, what its topic has gathered with it, on the scale of the base's full list of all topics."""
        best = self.base.full_list
        gathered = self.gathered[1:] - self.gathered[self.hit_bounds[self.hit_topic]]
        return np.asarray(best.reach[best.bounds[self.hit_topic]] + gathered)

    def newly(self, amount: Integers) -> Integers:
        """Return, for every hit, how much of an amount of text it holds that no earlier hit held.

        `amount` is given for every row of the base, with what its descendants hold. What a row holds beside its
        children comes into sight with the first hit among itself and its ancestors.
        """
        last, never = self.base.last, len(self.hits)
        own, first = amount.copy(), np.full(len(last), never, np.int64)
        first[self.row[self.hits]] = np.arange(never)
        for here, parent in levels_below(last):
            np.subtract.at(own, parent, amount[here])
            first[here] = np.minimum(first[here], first[parent])
        return np.maximum(np.bincount(first, own, never + 1)[:never].astype(np.int64), 0)

    def upto(self, gathered: Integers, ranks: Integers) -> Integers:
        """Return a running sum over hits (`gathered`, `normalised`) at ranks: topics × ranks."""
        end = np.minimum(self.bounds[:-1, None] + ranks, self.bounds[1:, None])
        last = np.searchsorted(self.hits, end)
        return np.asarray(gathered[last] - gathered[self.hit_bounds[:-1, None]])
