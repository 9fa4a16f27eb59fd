"""Results as elements of a recall base: which relevant element each one is, and what it gains.

One `ElementMatch` per run, quantisation and base. A result gains the first time that its topic's list returns the
element; results that are not in the base, and repeats, gain 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.errors import MissingDataError
from focuseval.measures.matching.results import Results
from focuseval.measures.topicwise import cumulated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.recall_base.base import RecallBase


@dataclass(frozen=True, eq=False)
class ElementMatch:
    """One run's results against one recall base; gains are integers, multiples of ``base.unit``."""

    base: RecallBase
    bounds: NDArray[np.int64]
    """Where each topic's results begin, and the end of the last."""
    article: NDArray[np.int64]
    """For every result, its judged article (a row of ``gold.articles``), or −1."""
    code: NDArray[np.int64]
    """For every result, its path as a code of ``base.tree``, −1 where no assessed element has or extends it."""
    row: NDArray[np.int64]
    """For every result, its row in the base, −1 where it is not relevant or was returned before."""
    repeated: int = 0
    """Relevant results that were returned before: they gain nothing the second time."""
    made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What measures have computed from this match and may need again, by name."""

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """The results that gain, in rank order."""
        return np.flatnonzero(self.row >= 0)

    @cached_property
    def hit_topic(self) -> NDArray[np.int64]:
        """For every hit, its topic."""
        return self.base.topic[self.row[self.hits]]

    @cached_property
    def hit_gain(self) -> NDArray[np.int64]:
        """For every hit, its gain in units."""
        return self.base.units[self.row[self.hits]]

    @cached_property
    def hit_rank(self) -> NDArray[np.int64]:
        """For every hit, its rank in its topic, from 1."""
        return self.hits - self.bounds[self.hit_topic] + 1

    @cached_property
    def gathered(self) -> NDArray[np.int64]:
        """Running sum of `hit_gain` over all topics on end, with a leading 0."""
        return cumulated(self.hit_gain)

    @cached_property
    def normalised(self) -> NDArray[np.int64]:
        """Running sum of the hits' normalised gains, with a leading 0; see `normalised_gains`."""
        return cumulated(normalised_gains(self))

    @cached_property
    def hit_bounds(self) -> NDArray[np.int64]:
        """Where each topic's hits begin, and the end of the last."""
        return np.searchsorted(self.hits, self.bounds).astype(np.int64)

    @cached_property
    def hit_sofar(self) -> NDArray[np.int64]:
        """For every hit, what its topic has gathered with it, in units."""
        return np.asarray(self.gathered[1:] - self.gathered[self.hit_bounds[self.hit_topic]])

    @cached_property
    def hit_reach(self) -> NDArray[np.int64]:
        """For every hit, `hit_sofar` on the scale of the base's full list, which counts all topics on end."""
        best = self.base.full_list
        return np.asarray(best.reach[best.bounds[self.hit_topic]] + self.hit_sofar)

    def upto(self, gathered: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a running sum over hits (`gathered`, `normalised`) at ranks: topics × ranks."""
        end = np.minimum(self.bounds[:-1, None] + ranks, self.bounds[1:, None])
        last = np.searchsorted(self.hits, end)
        return np.asarray(gathered[last] - gathered[self.hit_bounds[:-1, None]])


def normalised_gains(match: ElementMatch) -> NDArray[np.int64]:
    r"""Return what each hit adds to the ideal elements on its path, in units.

    .. math:: xG_{norm}[j] = \max(0, \min(xG[j],\; xG[ideal] - \sum_{k \in S} xG[k]))

    `S` are the earlier results that overlap the ideal element. A hit that contains several ideal elements takes the
    one that leaves it most, and overlaps each of them.
    """
    base, row = match.base, match.row[match.hits]
    first, upto = base.related
    count = upto[row] - first[row]
    hit = np.repeat(np.arange(len(row)), count)
    turn = np.arange(len(hit)) - np.repeat(np.cumsum(count) - count, count)
    ideal = first[row[hit]] + turn
    order = np.argsort(ideal, kind="stable")  # by ideal element, then in rank order
    gain, ideal = match.hit_gain[hit[order]], ideal[order]
    left = np.empty(len(order), np.int64)
    left[order] = base.units[base.ideal[ideal]] - _sum_before(gain, ideal)
    best = np.maximum.reduceat(left, np.cumsum(count) - count) if len(row) else left
    return np.maximum(0, np.minimum(match.hit_gain, best))


def _sum_before(values: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum, for every value, the earlier values of its group; groups stand in blocks."""
    before = np.cumsum(values) - values
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    return before - np.repeat(before[begins], np.diff(np.r_[begins, len(group)]))


@dataclass(frozen=True, eq=False)
class ElementResults(Results):
    """One run's results, and what they are as elements of recall bases."""

    def elements(self, quant: str = "auto", base: str = "auto") -> ElementMatch:
        """Return the results as elements of the recall base under a quantisation, made once for each pair.

        `base` is ``full``, ``filtered`` (without the policies' link types) or ``auto``, what the policies say.
        """
        if (quant, base) not in self.element_matches:
            assessed = self.prepared.assessed.base(quant, self.policies.left_out(base))
            self.element_matches[quant, base] = match_base(self, assessed)
        return self.element_matches[quant, base]

    @cached_property
    def element_matches(self) -> dict[tuple[str, str], ElementMatch]:
        """The matches with recall bases that were made so far, by quantisation and base."""
        return {}

    @cached_property
    def path_codes(self) -> NDArray[np.int64]:
        """For every result, its path as a code of the assessed elements' tree, −1 where it has no relative there.

        A run of whole documents returns their root elements.
        """
        run, assessed = self.run, self.prepared.assessed
        if run.path is None and (run.start is not None or run.text is not None):
            raise MissingDataError(
                f"{run.file or run.run_id}: results are passages, and this measure compares elements; "
                "use a measure of characters (iP, MAiP, charP …), or a run with element paths"
            )
        if run.path is None:  # the root element of every result's article
            roots = np.flatnonzero(assessed.tree.depth == 1)
            of_article = np.full(len(assessed.topic_of_article) + 1, -1, np.int64)
            of_article[assessed.article] = roots[np.searchsorted(roots, assessed.code, "right") - 1]
            return np.asarray(of_article[self.known])  # the last entry, −1, is for unjudged articles
        code = assessed.tree.find(self.path)
        if run.end_path is None:
            return code
        ends = self.column(run.end_path)
        element = np.asarray(ends.is_null()) | (assessed.tree.find(ends) == code)
        return np.where(element, code, -1)


def match_base(matched: ElementResults, base: RecallBase) -> ElementMatch:
    """Return a run's results as elements of any recall base made of the same assessments."""
    article, code = np.asarray(matched.known, np.int64), matched.path_codes
    row, repeated = match_rows(base, article, code)
    return ElementMatch(base, matched.bounds, article, code, row, repeated)


def match_rows(base: RecallBase, article: NDArray[np.int64], code: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the base row of every result, −1 for those not in the base and for repeats; and the number of repeats."""
    here = np.flatnonzero((code >= 0) & (article >= 0))
    row = np.full(len(code), -1, np.int64)
    row[here] = base.lookup.find(base.key_of(article[here], code[here]))
    first = np.empty(len(base) + 1, np.int64)
    backwards = np.arange(len(row) - 1, -1, -1)
    first[row[backwards]] = backwards  # of equal rows the last assignment, the first result, stays
    kept = np.where(first[row] == np.arange(len(row)), row, -1)
    return kept, int(np.count_nonzero(row >= 0) - np.count_nonzero(kept >= 0))
