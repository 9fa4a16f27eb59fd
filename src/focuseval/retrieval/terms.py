"""Words into terms, and queries into weighted terms: words and phrases, wanted and unwanted.

Words are folded, and in a language of Snowball stemmed; its stop words are left out.

Stop words are Snowball's own lists (in the folder `stop`, with their licence), cut as texts are; they are compared
after folding and before stemming. Snowball has lists for some of its languages; words of the others are stemmed only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

import Stemmer

from focuseval.collection.boundaries import words
from focuseval.data.topics.syntax import Term
from focuseval.errors import UsageError, did_you_mean

NONE = "none"  # no language: words are folded, all are kept


def languages() -> tuple[str, ...]:
    """Return the languages that there are."""
    return (*Stemmer.algorithms(), NONE)


def stemmer_version(language: str) -> str:
    """Return what makes the terms of a language: terms of another version may differ."""
    return "" if language == NONE else f"Snowball {Stemmer.version()}"


def check_language(name: str) -> None:
    """Refuse a language that is not there."""
    if name not in languages():
        remedy = did_you_mean(name, languages(), f"there are {', '.join(languages())}")
        raise UsageError(f"expected a language of Snowball or {NONE!r}, found {name!r}; {remedy}")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that are left out.

    >>> "the" in stop_words("english"), stop_words("none")
    (True, frozenset())
    """
    found = files("focuseval.retrieval") / "stop" / f"{language}.txt"
    text = found.read_text(encoding="utf-8") if found.is_file() else ""
    return frozenset(word.casefold() for word in words(text))


class Language:
    """The terms of words; each distinct word is looked at once."""

    def __init__(self, name: str) -> None:
        check_language(name)
        self.name = name
        self.terms: list[str] = []
        """Every term so far."""
        self._number: dict[str, int] = {}
        self.known: dict[str, int] = {}
        """The number of every word that was looked at."""
        self._stop = stop_words(name)
        self._stemmer = None if name == NONE else Stemmer.Stemmer(name, 0)  # no cache: a word is asked for once

    def numbers(self, found: Sequence[str]) -> list[int]:
        """Return the number of every word's term in `terms`, −1 for stop words.

        >>> english = Language("english")
        >>> english.numbers(["The", "Tides", "tide"]), english.terms
        ([-1, 0, 0], ['tide'])
        """
        known = self.known
        for word in found:
            if word in known:
                continue
            folded, known[word] = word.casefold(), -1
            if folded not in self._stop:
                term = folded if self._stemmer is None else self._stemmer.stemWord(folded)
                known[word] = self._number.setdefault(term, len(self.terms))
                if known[word] == len(self.terms):
                    self.terms.append(term)
        return [known[word] for word in found]


Weights = dict[tuple[str, ...], int]  # terms with their weights: one word, or the words of a phrase


def weights(terms: Iterable[Term], language: Language) -> Weights:
    """Return the weight of every term: 1, 2 with ``+``, −1 with ``-``, added up.

    A phrase adds its words and itself; an unwanted one itself only. A phrase of one kept word is that word.

    >>> from focuseval.data.topics.syntax import parse_terms
    >>> weights(parse_terms('+tide "new moon" -self-made -"old ship"'), Language("none"))
    {('tide',): 2, ('new',): 1, ('moon',): 1, ('new', 'moon'): 1, ('self',): -1, ('made',): -1, ('old', 'ship'): -1}
    """
    found: Weights = {}
    for term in terms:
        kept = [language.terms[number] for number in language.numbers(words(term.text)) if number >= 0]
        parts: list[tuple[str, ...]] = [(one,) for one in kept]
        if term.phrase and len(kept) > 1:
            parts = [tuple(kept)] if term.sign == "-" else [*parts, tuple(kept)]
        for part in parts:
            found[part] = found.get(part, 0) + {"": 1, "+": 2, "-": -1}[term.sign]
    return {term: weight for term, weight in found.items() if weight}
