"""What may be returned (elements, documents, passages or chunks), how often terms occur in it, and its BM25.

Units are numbered: elements (and documents, by their roots) as in the collection, spans through all documents. Terms
are counted exactly, whatever nests in a unit: occurrences are counted at the deepest elements around them, and a unit's
count is a difference of two running sums, as its descendants stand next to it.

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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from focuseval.collection.block import spread
from focuseval.collection.boundaries import Boundaries, windows
from focuseval.collection.chunks import as_chunks, cuts
from focuseval.engine.lazy import cached_property
from focuseval.errors import CollectionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.store import IndexedWords
    from focuseval.retrieval.terms import Weights

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]

Scorer = Callable[["Numbers", "Numbers", "Numbers"], "Numbers"]
"""What a term adds to a unit's score, by columns: how often the unit holds it, words of the unit, how many hold it."""

DECIMALS = 9
_REMEMBERED = 8_000_000
"""Units of terms that are kept for the questions that follow: 128 MB at most."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """One term of a query, where it stands: the first kept word of every occurrence, and how many words it has."""

    term: tuple[str, ...]
    weight: int
    first: NDArray[np.int32]


def occurrences(query: Weights, among: IndexedWords) -> list[Occurrences]:
    """Return where the terms of a query stand, those that stand somewhere; the words of a phrase follow each other."""
    found = []
    for term, weight in query.items():
        first, *others = sorted((among.occurrences(word) - np.int32(at) for at, word in enumerate(term)), key=len)
        for other in others:
            first = np.intersect1d(first, other, assume_unique=True)
        if len(first):
            found.append(Occurrences(term, weight, first))
    return found


class Counted(NamedTuple):
    """Units that hold a term of a query, ascending, and how often each holds each term."""

    units: Integers
    counts: list[Integers]


class Size(NamedTuple):
    """How many units there are, and their mean length."""

    number: int
    average: float


@dataclass(frozen=True, eq=False)
class ElementUnits:
    """Elements of any kind; documents are their roots."""

    words: IndexedWords
    tags: tuple[str, ...] = ()
    min_words: int = 1
    roots_only: bool = False

    @property
    def length(self) -> NDArray[np.int32]:
        """Kept words of every element."""
        return self.words.lengths

    @property
    def depth(self) -> NDArray[np.integer] | None:
        """1 for a root."""
        return self.words["depth"]

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether an element has a wanted tag and words enough."""
        enough = self.length >= max(self.min_words, 1)
        if self.roots_only:
            enough &= self.words["depth"] == 1
        if self.tags:
            known = self.words.tags
            for tag in self.tags:
                if tag not in known:
                    remedy = did_you_mean(tag, known, "'focuseval stats' lists the tags of an index")
                    what = f"expected a tag of the collection, found {tag!r}"
                    raise CollectionError(what, at=self.words.index.name, remedy=remedy)
            enough &= np.array([tag in self.tags for tag in known])[self.words["tag"]]
        return np.asarray(enough)

    def count(self, terms: Sequence[Occurrences]) -> Counted:
        """Return the elements that hold a term, and how often."""
        leaves = []
        for term in terms:  # the deepest element around every occurrence; a phrase across documents has none
            element, end = np.asarray(self.words["element"][term.first]), term.first + np.int32(len(term.term))
            while len(term.term) > 1 and (short := np.flatnonzero(self.words["last"][element] < end)).size:
                element[short] = self.words["parent"][element[short]]
                inside = element >= 0
                element, end = element[inside], end[inside]
            leaves.append(element)
        units = with_ancestors(leaves, self.words["parent"])
        ends = np.searchsorted(self.words["first"][units], self.words["last"][units])
        counts = []
        for leaf in leaves:
            direct = np.bincount(np.searchsorted(units, leaf), minlength=len(units))
            before = np.append(0, np.cumsum(direct))
            counts.append(before[ends] - before[:-1])
        return Counted(units, counts)

    def document(self, units: Integers) -> Integers:
        """Return the rows of the elements' documents."""
        return np.searchsorted(self.words.roots, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the elements' words: they nest as their characters do, and every unit has some."""
        return self.words["first"][units].astype(np.int64), self.words["last"][units].astype(np.int64)


def with_ancestors(leaves: Sequence[NDArray[np.int32]], parent: NDArray[np.int32]) -> Integers:
    """Return elements and all that contain them, ascending.

    >>> with_ancestors([np.array([3], np.int32)], np.array([-1, 0, 0, 2]))
    array([0, 2, 3])
    """
    held = np.zeros(len(parent), np.bool_)
    for leaf in leaves:
        at = leaf
        while len(at):
            held[at] = True
            at = parent[at[np.append(True, at[1:] != at[:-1])]]
            at = at[at >= 0]
            at = at[~held[at]]
    return np.flatnonzero(held)


@dataclass(frozen=True, eq=False)
class SpanUnits:
    """Spans of documents, by document and start: windows of words, or chunks of any kind."""

    words: IndexedWords
    bounds: Integers
    """The first unit of every document, and the end of the last."""
    first: Integers
    """The first word of every unit in the numbering of all; a word that an edge cuts in two belongs to no unit."""
    last: Integers
    """Past the last word."""
    edges: tuple[Integers, Integers] | None = None
    """Code points, where they are not those of the first and the last word."""
    depth: None = None

    @cached_property
    def length(self) -> Integers:
        """Kept words of every unit."""
        begin, end = (np.searchsorted(self.words["word"], bound.astype(np.int32)) for bound in (self.first, self.last))
        return end - begin

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether a unit holds a word that is kept."""
        return self.length > 0

    @cached_property
    def _reach(self) -> tuple[Integers, bool]:
        """Past the last word of this unit and of all before it; and whether one ends before one that begins earlier."""
        reach = np.maximum.accumulate(self.last)
        return reach, not np.array_equal(reach, self.last)

    @cached_property
    def _around(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every kept word the first unit around it, and how many there are one after the other."""
        word, reach = self.words["word"], self._reach[0]
        lowest = np.searchsorted(reach, word, "right")
        many = np.maximum(np.searchsorted(self.first, word, "right") - lowest, 0)
        return lowest.astype(np.int32), many.astype(np.int32)

    @cached_property
    def _known(self) -> dict[tuple[str, ...], tuple[Integers, Integers]]:
        """Terms that were counted: questions share their frequent words, and these take longest."""
        return {}

    def count_one(self, term: Occurrences) -> tuple[Integers, Integers]:
        """Return the units that hold one term, ascending, and how often."""
        if (known := self._known.get(term.term)) is not None:
            return known
        word, (lowest, many), nested = self.words["word"], self._around, self._reach[1]
        end: Integers = np.minimum(term.first.astype(np.int64) + len(term.term), len(word)) - 1
        low, last = lowest[end], word[end]  # all units around every occurrence, ascending for each
        high = lowest[term.first] + many[term.first]
        wide = np.maximum(high - low, 0)
        unit = spread(low.astype(np.int64), wide.astype(np.int64))
        if nested:
            unit = unit[self.last[unit] > np.repeat(last, wide)]
        if len(unit) * 8 > len(self.first):
            every = np.bincount(unit, minlength=len(self.first))
            units = np.flatnonzero(every)
            counts = every[units]
        else:
            units, counts = np.unique(unit, return_counts=True)
        if sum(len(units) for units, _ in self._known.values()) < _REMEMBERED:
            self._known[term.term] = units, counts
        return units, counts

    def count(self, terms: Sequence[Occurrences]) -> Counted:
        """Return the units that hold a term, and how often."""
        held = [self.count_one(term) for term in terms]
        if sum(len(units) for units, _ in held) * 8 > len(self.first):  # many: look up places, do not search for them
            there = np.zeros(len(self.first), np.bool_)
            for units, _ in held:
                there[units] = True
            every = np.flatnonzero(there)
            place = np.empty(len(there), np.int64)
            place[every] = np.arange(len(every))
            places = [place[units] for units, _ in held]
        else:
            every = np.unique(np.concatenate([np.zeros(0, np.int64), *(units for units, _ in held)]))
            places = [np.searchsorted(every, units) for units, _ in held]
        counts = []
        for at, (_, own) in zip(places, held, strict=True):
            count = np.zeros(len(every), np.int64)
            count[at] = own
            counts.append(count)
        return Counted(every, counts)

    def document(self, units: Integers) -> Integers:
        """Return the rows of the units' documents."""
        return np.searchsorted(self.bounds, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the code points of units."""
        if self.edges is not None:
            return self.edges[0][units], self.edges[1][units]
        begin, end = self.first[units], self.last[units]
        return self.words["start"][begin].astype(np.int64), self.words["end"][end - 1].astype(np.int64)


def chunk_units(words: IndexedWords, chunks: Chunks) -> SpanUnits:
    """Return chunks as units, by document, start and end, each once."""
    every = np.unique(np.stack([chunks.rows(words.index), chunks.start, chunks.end]), axis=1)
    document, start, end = every[:, every[2] > every[1]]
    written = Boundaries(words["start"], words["end"], words["word_bounds"])
    first, last = written.upto_start(document, start), written.upto_end(document, end)
    bounds = np.searchsorted(document, np.arange(len(words["word_bounds"])))
    return SpanUnits(words, bounds, first, np.maximum(first, last), (start, end))


UnitSet: TypeAlias = ElementUnits | SpanUnits
"""Units of one kind."""


def unit_set(words: IndexedWords, settings: RetrievalSettings, chunks: Chunks | None = None) -> UnitSet:
    """Return the units that settings ask for; given chunks are the units."""
    if chunks is not None:
        return chunk_units(words, chunks)
    if settings.kind == "document":
        return ElementUnits(words, roots_only=True)
    spec = settings.spec
    if spec is None:
        return ElementUnits(words, settings.tags, settings.min_words or 1)
    if spec.kind == "words":  # passages are windows of words
        every = words["word_bounds"]
        document, first, last = windows(np.diff(every), spec.size, spec.step)
        bounds, base = np.searchsorted(document, np.arange(len(every))), every[document]
        return SpanUnits(words, bounds, base + first, base + last)
    return chunk_units(words, as_chunks(words.index, cuts(words.index, spec), str(spec)))


def size_of(units: UnitSet) -> Size:
    """Return how many units may be returned, and their mean length."""
    lengths = units.length[units.returnable]
    return Size(len(lengths), float(lengths.mean()) if len(lengths) else 1.0)


class Matches(NamedTuple):
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

    @cached_property
    def _shares(self) -> dict[tuple[str, ...], Numbers]:
        """Of terms that were scored: tf / (tf + norm) in every span that holds one, which no question changes."""
        return {}

    def _score_spans(self, units: SpanUnits, query: Weights) -> tuple[Integers, Numbers]:
        """Score spans by themselves, term by term: the same sums in the same order as `_sum`."""
        k1, b = self.settings.k1, self.settings.b
        total, held = np.zeros(len(units.first)), np.zeros(len(units.first), np.bool_)
        for term in occurrences(query, self.words):
            own, tf = units.count_one(term)
            if (share := self._shares.get(term.term)) is None:
                share = tf / (tf + k1 * (1 - b + b * units.length[own] / self.size.average))
                if sum(map(len, self._shares.values())) < _REMEMBERED:
                    self._shares[term.term] = share
            idf = log(1 + (self.size.number - len(own) + 0.5) / (len(own) + 0.5))
            total[own] += (term.weight * idf * (k1 + 1)) * share
            if term.weight > 0:
                held[own] = True
        score = np.round(total, DECIMALS)
        found = np.flatnonzero(held & (score > 0))
        return found, score[found]

    def score(self, query: Weights) -> tuple[Integers, Numbers]:
        """Return the units that a query finds, ascending, and their scores, rounded."""
        by_itself = self.settings.idf == "units" and not self.settings.mix and self.scorer is None
        if by_itself and isinstance(self.units, SpanUnits):
            return self._score_spans(self.units, query)
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
        holders, number = found.documents.counts, self.documents_size.number
        if self.settings.idf != "documents":
            may = self.units.returnable[found.counted.units]
            holders, number = [count[may] for count in found.counted.counts], self.size.number
        counts = [count[kept] for count in found.counted.counts]
        length = self.units.length[found.counted.units[kept]]
        return self._sum(found.terms, counts, length, holders, Size(number, self.size.average))

    def of_documents(self, found: Matches) -> Numbers:
        """Return the score of every document found."""
        counts, length = found.documents.counts, self.words.lengths[found.documents.units]
        return self._sum(found.terms, counts, length, counts, self.documents_size)

    def _sum(
        self,
        terms: Sequence[Occurrences],
        counts: Sequence[Integers],
        length: NDArray[np.integer],
        holders: Sequence[Integers],
        size: Size,
    ) -> Numbers:
        """Add up what the terms give, in their order in the query; `holders` counts each in all that may hold it."""
        k1, b = self.settings.k1, self.settings.b
        total = np.zeros(len(length))
        norm = k1 * (1 - b + b * length / size.average)
        positive = bool(norm.min(initial=1) > 0)  # then what does not hold a term gets exactly 0
        for term, tf, held in zip(terms, counts, holders, strict=True):
            n = int(np.count_nonzero(held))
            if self.scorer is not None:
                columns = (tf.astype(np.float64), length.astype(np.float64), np.full(len(tf), float(n)))
                total += term.weight * self.scorer(*columns)
                continue
            idf = log(1 + (size.number - n + 0.5) / (n + 0.5))
            share = tf / (tf + norm) if positive else np.divide(tf, tf + norm, out=np.zeros(len(tf)), where=tf > 0)
            total += (term.weight * idf * (k1 + 1)) * share
        return total


def wanted(terms: Sequence[Occurrences], counted: Counted) -> NDArray[np.bool_]:
    """Return which units hold a term that is wanted."""
    held = np.zeros(len(counted.units), np.bool_)
    for term, count in zip(terms, counted.counts, strict=True):
        if term.weight > 0:
            held |= count > 0
    return held
