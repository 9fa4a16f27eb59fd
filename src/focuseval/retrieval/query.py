"""A query as weighted terms: words and phrases, wanted and unwanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.collection.boundaries import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from focuseval.data.topics.syntax import Term
    from focuseval.retrieval.language import Language
    from focuseval.retrieval.store import IndexedWords

_WEIGHT = {"": 1, "+": 2, "-": -1}

Weights = dict[tuple[str, ...], int]
"""Terms with their weights: one word, or the words of a phrase."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """One term of a query, where it stands: the first kept word of every occurrence, and how many words it has."""

    term: tuple[str, ...]
    weight: int
    first: NDArray[np.int32]

    @property
    def size(self) -> int:
        """Kept words of one occurrence."""
        return len(self.term)


def weights(terms: Iterable[Term], language: Language) -> Weights:
    """Return the weight of every term: 1, 2 with ``+``, −1 with ``-``, added up.

    A phrase adds its words and itself; an unwanted one itself only. A phrase of one kept word is that word.

    >>> from focuseval.retrieval.language import Language
    >>> from focuseval.data.topics.syntax import parse_terms
    >>> weights(parse_terms('+tide "new moon" -self-made -"old ship"'), Language("none"))
    {('tide',): 2, ('new',): 1, ('moon',): 1, ('new', 'moon'): 1, ('self',): -1, ('made',): -1, ('old', 'ship'): -1}
    """
    found: Weights = {}
    for term in terms:
        kept = [one for word in words(term.text) if (one := language.term(word)) is not None]
        parts: list[tuple[str, ...]] = [(one,) for one in kept]
        if term.phrase and len(kept) > 1:
            parts = [tuple(kept)] if term.sign == "-" else [*parts, tuple(kept)]
        for part in parts:
            found[part] = found.get(part, 0) + _WEIGHT[term.sign]
    return {term: weight for term, weight in found.items() if weight}


def occurrences(query: Weights, among: IndexedWords) -> list[Occurrences]:
    """Return where the terms of a query stand, those that stand somewhere."""
    found = [Occurrences(term, weight, _places(term, among)) for term, weight in query.items()]
    return [one for one in found if len(one.first)]


def _places(term: tuple[str, ...], among: IndexedWords) -> NDArray[np.int32]:
    """Return the first words of a term's occurrences: of a phrase, whose words follow each other."""
    lists = sorted(((among.occurrences(word) - np.int32(at)) for at, word in enumerate(term)), key=len)
    both = lists[0]
    for other in lists[1:]:
        both = np.intersect1d(both, other, assume_unique=True)
    return both
