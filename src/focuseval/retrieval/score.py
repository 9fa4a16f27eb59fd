"""BM25 of units, mixed with that of their documents.

::

    BM25(e) = Σ q(t) · idf(t) · tf·(k1+1) / (tf + k1·(1 − b + b·len(e)/avg))     idf(t) = ln(1 + (N − n + ½)/(n + ½))
    score(e) = (1 − mix) · BM25(e) + mix · BM25(document of e)

`avg` is the mean length of all units that may be returned; `N` and `n` count documents or these units. The score of a
document always has the documents' own numbers. What holds no word counts nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.retrieval.query import occurrences
from focuseval.retrieval.unit_sets import Counted, ElementUnits, size_of, unit_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.retrieval.query import Occurrences, Weights
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.store import IndexedWords
    from focuseval.retrieval.unit_sets import Size, UnitSet

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]

Scorer = Callable[["Numbers", "Numbers", "Numbers"], "Numbers"]
"""What a term adds to a unit's score, by columns: how often the unit holds it, words of the unit, how many hold it."""

DECIMALS = 9


@dataclass(frozen=True, eq=False)
class Matches:
    """What a query found: its terms, the units that hold one, the documents that do, and the document of each unit."""

    terms: list[Occurrences]
    counted: Counted
    documents: Counted
    """By their root elements."""
    document: Integers
    """For every unit its place among these documents."""


@dataclass(frozen=True, eq=False)
class UnitRanker:
    """The words of a collection, and how its units are scored."""

    words: IndexedWords
    settings: RetrievalSettings
    """With every default filled in."""
    scorer: Scorer | None = None
    chunks: Chunks | None = None
    """What may be returned, where the settings do not say it."""

    @cached_property
    def units(self) -> UnitSet:
        """What may be returned."""
        return unit_set(self.words, self.settings, self.chunks)

    @cached_property
    def size(self) -> Size:
        """Number and mean length of the units."""
        return size_of(self.units)

    @cached_property
    def _documents(self) -> ElementUnits:
        return ElementUnits(self.words, roots_only=True)

    @cached_property
    def documents_size(self) -> Size:
        """Number and mean length of the documents."""
        return size_of(self._documents)

    def match(self, query: Weights) -> Matches:
        """Return the units and documents that hold a term of a query."""
        terms = occurrences(query, self.words)
        if not (isinstance(self.units, ElementUnits) or self.settings.mix or self.settings.idf == "documents"):
            counted = self.units.count(terms)
            return Matches(terms, counted, counted, np.zeros(0, np.int64))  # nothing is asked of the documents
        tree = self._documents.count(terms)
        root = self.words["depth"][tree.units] == 1
        documents = Counted(tree.units[root], [count[root] for count in tree.counts])
        if isinstance(self.units, ElementUnits):
            return Matches(terms, tree, documents, np.cumsum(root) - 1)
        counted = self.units.count(terms)
        roots = self.words.roots[self.units.document(counted.units)]
        return Matches(terms, counted, documents, np.searchsorted(documents.units, roots))

    def score(self, query: Weights) -> tuple[Integers, Numbers]:
        """Return the units that a query finds, ascending, and their scores, rounded."""
        found = self.match(query)
        may = wanted(found.terms, found.counted) & self.units.returnable[found.counted.units]
        kept = np.flatnonzero(may)
        score = self.mixed(found, self.of_units(found, kept), kept)
        above = score > 0
        return found.counted.units[kept[above]], score[above]

    def mixed(self, found: Matches, own: Numbers, kept: Integers) -> Numbers:
        """Return the scores of some of the units found, mixed with their documents' and rounded."""
        mix = self.settings.mix or 0.0
        if mix:
            own = (1 - mix) * own + mix * self.of_documents(found)[found.document[kept]]
        return np.round(own, DECIMALS)

    def of_units(self, found: Matches, kept: Integers) -> Numbers:
        """Return the own score of some of the units found."""
        counts = [count[kept] for count in found.counted.counts]
        length = self.units.length[found.counted.units[kept]]
        return self._sum(found.terms, counts, length, self.frequencies(found), self.size)

    def of_documents(self, found: Matches) -> Numbers:
        """Return the score of every document found."""
        frequencies = [int(np.count_nonzero(count)) for count in found.documents.counts]
        number = self.documents_size.number
        length = self.words.lengths[found.documents.units]
        statistics = (number, frequencies)
        return self._sum(found.terms, found.documents.counts, length, statistics, self.documents_size)

    def frequencies(self, found: Matches) -> tuple[int, list[int]]:
        """Return how many documents or units there are, and how many of them hold each term."""
        if self.settings.idf == "documents":
            return self.documents_size.number, [int(np.count_nonzero(count)) for count in found.documents.counts]
        may = self.units.returnable[found.counted.units]
        return self.size.number, [int(np.count_nonzero(count[may])) for count in found.counted.counts]

    def _sum(
        self,
        terms: Sequence[Occurrences],
        counts: Sequence[Integers],
        length: NDArray[np.integer],
        statistics: tuple[int, list[int]],
        size: Size,
    ) -> Numbers:
        """Add up what the terms give, in their order in the query."""
        k1, b = self.settings.k1, self.settings.b
        number, frequencies = statistics
        total = np.zeros(len(length))
        norm = k1 * (1 - b + b * length / size.average)
        for term, tf, n in zip(terms, counts, frequencies, strict=True):
            if self.scorer is not None:
                columns = (tf.astype(np.float64), length.astype(np.float64), np.full(len(tf), float(n)))
                total += term.weight * self.scorer(*columns)
                continue
            idf = log(1 + (number - n + 0.5) / (n + 0.5))
            total += (term.weight * idf * (k1 + 1)) * np.divide(tf, tf + norm, out=np.zeros(len(tf)), where=tf > 0)
        return total


def wanted(terms: Sequence[Occurrences], counted: Counted) -> NDArray[np.bool_]:
    """Return which units hold a term that is wanted."""
    held = np.zeros(len(counted.units), np.bool_)
    for term, count in zip(terms, counted.counts, strict=True):
        if term.weight > 0:
            held |= count > 0
    return held
