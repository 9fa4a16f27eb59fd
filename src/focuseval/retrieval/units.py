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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.boundaries import Boundaries, windows
from focuseval.collection.chunks import Chunks, as_chunks, cuts
from focuseval.engine import native
from focuseval.engine.lazy import cached_property
from focuseval.errors import CollectionError, did_you_mean
from focuseval.retrieval.settings import RetrievalSettings
from focuseval.retrieval.store import IndexedWords
from focuseval.retrieval.terms import Weights

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Scored = tuple[Integers, Numbers]
Holders = list[tuple[int, int]]

Scorer = Callable[["Numbers", "Numbers", "Numbers"], "Numbers"]
"""What a term adds to a unit's score, by columns: how often the unit holds it, words of the unit, how many hold it."""

DECIMALS = 9
_REMEMBERED = 8_000_000  # units of terms that are kept for the questions that follow: 128 MB at most


@dataclass(frozen=True, eq=False)
class Occurrences:
    """One term of a query, and where it stands."""

    term: tuple[str, ...]
    weight: int
    words: IndexedWords

    @cached_property
    def first(self) -> NDArray[np.int32]:
        """The first kept word of every occurrence; the words of a phrase follow each other."""
        first = self.words.occurrences(self.term[0])
        for at, word in enumerate(self.term[1:], 1):
            first = np.intersect1d(first, self.words.occurrences(word) - np.int32(at), assume_unique=True)
        return first


def occurrences(query: Weights, among: IndexedWords) -> list[Occurrences]:
    """Return the terms of a query."""
    return [Occurrences(term, weight, among) for term, weight in query.items()]


Count = tuple["NDArray[np.int32]", "NDArray[np.int32]"]
"""The units that hold a term, by their places in the `rows` of a set, and how often each does."""


def counted_between(term: Occurrences, begin: NDArray[np.integer], end: NDArray[np.integer]) -> Count:
    """Count a term in units of these kept words each: what is used where there is no compiled code."""
    past = np.searchsorted(term.first, end - (len(term.term) - 1))
    many = np.maximum(past - np.searchsorted(term.first, begin), 0)
    held = np.flatnonzero(many)
    return held.astype(np.int32), many[held].astype(np.int32)


class Size(NamedTuple):
    """How many units there are, and how many words they hold together."""

    number: int
    words: int

    @property
    def average(self) -> float:
        """Their mean length."""
        return self.words / self.number if self.number else 1.0

    def idf(self, holders: int) -> float:
        """Return what a term weighs that so many units hold."""
        return log(1 + (self.number - holders + 0.5) / (holders + 0.5))


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
        return self.words["size"]

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

    @cached_property
    def rows(self) -> Integers:
        """The elements that may be returned, ascending."""
        return np.flatnonzero(self.returnable)

    @cached_property
    def _room(self) -> tuple[list[NDArray[np.int32]], tuple[int | None, ...]]:
        """Room for the counts of a term, last, behind what counting needs; and the addresses of the elements and all.

        `near` is the place in `rows` of the unit at or nearest above every element, −1 for none; `around` that of the
        unit around every unit, in two columns: `words.c` counts in the other one.
        """
        parent, library = self.words["parent"], cast("Any", native.library())
        near, around = np.empty(len(parent), np.int32), np.zeros((len(self.rows), 2), np.int32)
        library.words_near(*native.addresses(parent), len(parent), *native.addresses(self.returnable, near, around))
        room = [near, around, *np.zeros((2, len(self.rows)), np.int32)]
        return room, native.addresses(self.words["element"], *room)

    def count_one(self, term: Occurrences) -> Count:
        """Return which of the `rows` hold one term, and how often."""
        leaf, many, library = term.first, len(term.term), native.library()
        if library is None:
            return counted_between(term, *self.spans(self.rows))
        if many > 1:  # the deepest element around every occurrence; a phrase across documents has none
            leaf, end = np.asarray(self.words["element"][term.first]), term.first + np.int32(many)
            while (short := np.flatnonzero(self.words["last"][leaf] < end)).size:
                leaf[short] = self.words["parent"][leaf[short]]
                inside = leaf >= 0
                leaf, end = leaf[inside], end[inside]
        (*_, own, tf), (elements, *others) = self._room
        found = library.words_tally(leaf.ctypes.data, len(leaf), elements if many == 1 else None, *others)
        return own[:found].copy(), tf[:found].copy()

    def document(self, units: Integers) -> Integers:
        """Return the rows of the elements' documents."""
        return np.searchsorted(self.words.index.element_bounds, units, "right") - 1

    def spans(self, units: Integers) -> tuple[Integers, Integers]:
        """Return the elements' words: they nest as their characters do, and every unit has some."""
        return self.words["first"][units].astype(np.int64), self.words["last"][units].astype(np.int64)


@dataclass(frozen=True, eq=False)
class SpanUnits:
    """Spans of documents, by document and start: windows of words, or chunks of any kind."""

    words: IndexedWords
    bounds: Integers  # the first unit of every document, and the end of the last
    first: Integers
    """The first word of every unit in the numbering of all; a word that an edge cuts in two belongs to no unit."""
    last: Integers  # past the last word
    edges: tuple[Integers, Integers] | None = None
    """Code points, where they are not those of the first and the last word."""
    depth: None = None

    @cached_property
    def _kept(self) -> tuple[Integers, Integers]:
        """The first kept word of every unit, and past the last."""
        word = self.words["word"]
        return np.searchsorted(word, self.first.astype(np.int32)), np.searchsorted(word, self.last.astype(np.int32))

    @cached_property
    def length(self) -> Integers:
        """Kept words of every unit."""
        return self._kept[1] - self._kept[0]

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """Whether a unit holds a word that is kept."""
        return self.length > 0

    @cached_property
    def rows(self) -> Integers:
        """All units."""
        return np.arange(len(self.first))

    @cached_property
    def _room(self) -> tuple[list[NDArray[np.int32]], tuple[int | None, ...]]:
        """Room for the counts of a term, and the addresses of what counting needs."""
        word, library, reach = self.words["word"], cast("Any", native.library()), np.maximum.accumulate(self.last)
        nested = None if np.array_equal(reach, self.last) else self.last  # one ends before one that begins earlier
        lowest, many, *room = np.empty_like(word), np.empty_like(word), *np.zeros((3, len(self.first)), np.int32)
        given = (*native.addresses(word), len(word), *native.addresses(self.first, reach), len(reach))
        library.words_around(*given, *native.addresses(lowest, many))  # of every kept word: the first unit, how many
        return [lowest, many, *room], native.addresses(lowest, many, word, nested, *room)

    def count_one(self, term: Occurrences) -> Count:
        """Return the units that hold one term, and how often."""
        library = native.library()
        if library is None:
            return counted_between(term, *self._kept)
        (*_, own, tf), where = self._room
        given = (term.first.ctypes.data, len(term.first), len(term.term), len(self.words["word"]))
        found = library.words_tally_spans(*given, *where)
        return own[:found].copy(), tf[:found].copy()

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


UnitSet: TypeAlias = ElementUnits | SpanUnits  # units of one kind


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
    """Return how many units may be returned, and how many words they hold."""
    return Size(int(np.count_nonzero(units.returnable)), int(units.length[units.returnable].sum()))


class Sums:
    """What terms give to units of one kind, added up by compiled code for one question after the other in one room."""

    def __init__(self, units: UnitSet, k1: float, b: float, size: Size | None = None) -> None:
        self.units, self.size, self._library = units, size or size_of(units), cast("Any", native.library())
        self._norm = k1 * (1 - b + b * units.length[units.rows] / self.size.average)
        self._remembered: dict[tuple[str, ...], tuple[NDArray[np.int32], Numbers]] = {}
        self._left = _REMEMBERED
        self.total, self._seen = np.zeros(len(self._norm)), np.zeros(len(self._norm), np.uint8)
        self._touched, self._score = np.empty(len(self._norm) + 1, np.int32), np.empty((2, len(self._norm) + 1))
        self._found = 0
        self._room = native.addresses(self.total, self._seen, self._touched)

    def shares(self, term: Occurrences) -> tuple[NDArray[np.int32], Numbers]:
        """Return the units that hold a term, by their places in `rows`, and tf / (tf + norm) of each."""
        if (known := self._remembered.get(term.term)) is not None:
            return known
        own, tf = self.units.count_one(term)
        share = np.empty(len(own))
        self._library.words_share(*native.addresses(own, tf), len(own), *native.addresses(self._norm, share))
        if len(own) <= self._left:
            self._left -= len(own)
            self._remembered[term.term] = own, share
        return own, share

    def add(self, shares: tuple[NDArray[np.int32], Numbers], weight: float) -> None:
        """Add what a term gives to units that hold it."""
        given = (*native.addresses(*shares), len(shares[0]), weight, weight > 0)
        self._found = self._library.words_add(*given, *self._room, self._found)

    def taken(self, most: int = 0, mix: float = 0.0, of: tuple[NDArray[np.int32], Numbers] | None = None) -> Scored:
        """Return the units that hold a wanted term and score above 0, and their scores, rounded; then all is 0 again.

        `most` is how many of the best are enough: then others may be left out. `of` has every unit's document and the
        scores of documents, of which units get the share `mix`.
        """
        total, seen, touched = self._room
        given = (touched, self._found, total, seen, mix, *native.addresses(*(of or (None, None))), most)
        found, self._found = self._library.words_rank(*given, *native.addresses(*self._score)), 0
        return self.units.rows[self._touched[:found]], self._score[0, :found].copy()


class FoundUnits(NamedTuple):
    """Units that hold a term of a query, ascending; a column each."""

    units: Integers
    own: Numbers  # their own score
    of_document: Numbers  # that of their document
    wanted: NDArray[np.bool_]  # whether one holds a term that is wanted


@dataclass(frozen=True, eq=False)
class UnitRanker:
    """The words of a collection, and how its units are scored."""

    words: IndexedWords
    settings: RetrievalSettings  # with every default filled in
    scorer: Scorer | None = None
    chunks: Chunks | None = None  # what may be returned, where the settings do not say it
    sizes: tuple[Size | None, Size | None] = (None, None)
    """Those of the units and documents, where these words are a part of a collection's."""

    @cached_property
    def units(self) -> UnitSet:
        """What may be returned."""
        return unit_set(self.words, self.settings, self.chunks)

    @cached_property
    def roots(self) -> ElementUnits:
        """The documents."""
        return ElementUnits(self.words, roots_only=True)

    @cached_property
    def sums(self) -> Sums:
        """Room for the scores of units; made before the first question."""
        return Sums(self.units, self.settings.k1, self.settings.b, self.sizes[0])

    @cached_property
    def _documents(self) -> Sums:
        return Sums(self.roots, self.settings.k1, self.settings.b, self.sizes[1])

    @cached_property
    def _document(self) -> NDArray[np.int32]:
        """The documents of the units in `rows`, by their places among those that hold words."""
        roots = self.words.index.element_bounds[self.units.document(self.units.rows)]
        return np.searchsorted(self.roots.rows, roots).astype(np.int32)

    @cached_property
    def every(self) -> UnitSet:
        """The units, of elements those, too, that may not be returned."""
        return ElementUnits(self.words) if isinstance(self.units, ElementUnits) else self.units

    def holders(self, query: Weights) -> Holders:
        """Return how many units and how many documents hold each term, those of them that idf and mix ask for."""
        units, documents = self.settings.idf == "units", bool(self.settings.mix) or self.settings.idf == "documents"
        return [
            (
                len(self.units.count_one(term)[0]) if units else 0,
                len(self.roots.count_one(term)[0]) if documents else 0,
            )
            for term in occurrences(query, self.words)
        ]

    def score(self, query: Weights, most: int = 0, held: Holders | None = None) -> Scored:
        """Return the units that a query finds, in any order, and their scores, rounded.

        Where so many of the best are enough (`most`), others may be left out, but none that ties with the last. `held`
        is what `holders` gave of the whole collection, where these words are a part of it.
        """
        if self.scorer is not None or native.library() is None:
            found = self.find(query, self.units, held)
            score = self.mixed(found.own, found.of_document)
            kept = found.wanted & self.units.returnable[found.units] & (score > 0)
            return found.units[kept], score[kept]
        k1, mix, by_documents = self.settings.k1, self.settings.mix or 0.0, self.settings.idf == "documents"
        for place, term in enumerate(occurrences(query, self.words)):
            own = self.sums.shares(term)
            documents = self._documents.shares(term) if mix or by_documents else own
            n_units, n_documents = (len(own[0]), len(documents[0])) if held is None else held[place]
            of_documents = self._documents.size.idf(n_documents) if mix or by_documents else 0.0
            idf = of_documents if by_documents else self.sums.size.idf(n_units)
            self.sums.add(own, term.weight * idf * (k1 + 1))
            if mix:
                self._documents.add(documents, term.weight * of_documents * (k1 + 1))
        if not mix:
            return self.sums.taken(most)
        scored = self.sums.taken(most, mix, (self._document, self._documents.total))
        self._documents.taken()
        return scored

    def mixed(self, own: Numbers, of_document: Numbers) -> Numbers:
        """Return the scores of units mixed with their documents', rounded."""
        mix = self.settings.mix or 0.0
        return np.round((1 - mix) * own + mix * of_document if mix else own, DECIMALS)

    def find(self, query: Weights, among: UnitSet, holders: Holders | None = None) -> FoundUnits:
        """Return those among some units that hold a term of a query; `holders` are those of the whole collection."""
        terms = {place: term for place, term in enumerate(occurrences(query, self.words)) if len(term.first)}
        held, in_documents = ([units.count_one(term) for term in terms.values()] for units in (among, self.roots))
        if holders is None:
            may = (np.count_nonzero(self.units.returnable[among.rows[own]]) for own, _ in held)
            known = [(int(many), len(own)) for many, (own, _) in zip(may, in_documents, strict=True)]
        else:
            known = [holders[place] for place in terms]
        size, average, of_units = self._documents.size, self.sums.size.average, self.settings.idf == "units"
        counts = [(term, own, tf, n[1]) for term, (own, tf), n in zip(terms.values(), in_documents, known, strict=True)]
        documents, of_document, _ = self._add_up(self.roots, counts, size, size.average)
        size = self.sums.size if of_units else size
        counts = [(term, *one, n[not of_units]) for term, one, n in zip(terms.values(), held, known, strict=True)]
        units, own, wanted = self._add_up(among, counts, size, average)
        at = np.searchsorted(documents, self.words.index.element_bounds[among.document(units)])
        return FoundUnits(units, own, of_document[at], wanted)

    def _add_up(
        self, units: UnitSet, held: Sequence[tuple[Occurrences, *Count, int]], size: Size, average: float
    ) -> tuple[Integers, Numbers, NDArray[np.bool_]]:
        """Return the units that hold a term, what the terms give them in their order in the query, and `wanted`."""
        places = np.unique(np.concatenate([np.zeros(0, np.int32), *(own for _, own, _, _ in held)]))
        k1, b = self.settings.k1, self.settings.b
        length, total, wanted = units.length[units.rows[places]], np.zeros(len(places)), np.zeros(len(places), np.bool_)
        norm = k1 * (1 - b + b * length / average)
        for term, own, tf, n in held:
            at = np.searchsorted(places, own)
            wanted[at] |= term.weight > 0
            if self.scorer is None:
                total[at] += (term.weight * size.idf(n) * (k1 + 1)) * (tf / (tf + norm[at]))
                continue
            count = np.zeros(len(places))  # it may give something to a unit that does not hold a term, too
            count[at] = tf
            total += term.weight * self.scorer(count, length.astype(np.float64), np.full(len(places), float(n)))
        return units.rows[places], total, wanted
