"""Small rankers for the embedded example: BM25 over the elements of its articles.

They are real, if plain, so that the example's runs fail in the ways in which runs do fail: too coarse, too fine,
led astray by a common word. Scores are rounded and ties broken by document order, so that every machine makes the
same runs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from focuseval.collection.index import Index

_STOP = re.compile(
    r"(a|an|and|are|as|at|be|by|did|do|for|from|how|in|is|it|of|on|or|that|the|to|was|were|what|why|with)$"
)
_K1, _B = 1.2, 0.75


@dataclass(frozen=True)
class Unit:
    """One element of one article, with its words counted."""

    row: int
    document: str
    path: str
    tag: str
    start: int
    end: int
    words: Mapping[str, int]

    @property
    def length(self) -> int:
        """Number of words."""
        return sum(self.words.values())

    def overlaps(self, other: Unit) -> bool:
        """Whether two elements share text."""
        return self.row == other.row and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Ranker:
    """One way of ranking: which elements, how much their article helps, how much chance decides."""

    name: str
    tags: tuple[str, ...]
    context: float = 0.0
    """Share of the article's own score that each of its elements inherits."""
    noise: float = 0.0
    """Largest change of a score by chance, as a share of the best score."""


def words(text: str) -> list[str]:
    """Return the words that count, in lower case and without a plural s.

    >>> words("The Tides of the moon")
    ['tide', 'moon']
    """
    found = re.findall(r"\w+", text.lower())
    return [word.removesuffix("s") if len(word) > 3 else word for word in found if not _STOP.match(word)]


def units(index: Index) -> list[Unit]:
    """Return every element of every article that holds a word, in document order."""
    found = []
    for row, document in enumerate(index.ids.to_pylist()):
        text, table = index.text(row), index.elements(row)
        columns = zip(table.paths(), table.tag.to_pylist(), table.start.tolist(), table.end.tolist(), strict=True)
        for path, tag, start, end in columns:
            counted = Counter(words(text[start:end]))
            if counted:
                found.append(Unit(row, document, path, tag, start, end, counted))
    return found


def bm25(query: Iterable[str], among: Sequence[Unit]) -> list[float]:
    """Return the score of every unit for a query, in the units' order."""
    total, mean = len(among), sum(unit.length for unit in among) / len(among)
    scores = [0.0] * total
    for word in dict.fromkeys(query):
        holding = sum(word in unit.words for unit in among)
        weight = log(1 + (total - holding + 0.5) / (holding + 0.5))
        for i, unit in enumerate(among):
            count = unit.words.get(word, 0)
            scores[i] += weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * unit.length / mean))
    return scores


def rank(query: str, everything: Sequence[Unit], ranker: Ranker) -> list[tuple[Unit, float]]:
    """Return the units that a ranker finds for a query, best first, with their rounded scores."""
    wanted = words(query)
    articles = [unit for unit in everything if unit.tag == "article"]
    inherited = {unit.row: score for unit, score in zip(articles, bm25(wanted, articles), strict=True)}
    among = [unit for unit in everything if unit.tag in ranker.tags]
    scores = bm25(wanted, among)
    best = max(scores)
    found = [
        (unit, round(score + ranker.context * inherited[unit.row] + ranker.noise * best * chance(query, unit), 4))
        for unit, score in zip(among, scores, strict=True)
        if score > 0 or ranker.noise
    ]
    return sorted(found, key=lambda pair: -pair[1])


def chance(query: str, unit: Unit) -> float:
    """Return a number in [0, 1) that looks random and is the same on every machine."""
    return crc32(f"{query}|{unit.document}|{unit.path}".encode()) / 2**32
