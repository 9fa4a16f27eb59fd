"""A model's quotes at their places in the document: exact, normalised, repaired, or not in the text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focuseval.assessment.rules import NOT_RELEVANT, RELEVANT, Judgement
from focuseval.data.alignment import AMBIGUOUS, HOW, LOST
from focuseval.data.highlights import merge
from focuseval.placing import SIMILARITY
from focuseval.placing.page import Page, Wanted, place, place_quotes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.assessment.models.answer import ModelAnswer

COUNTED = ("exact", "normalised", "approximate", "ambiguous", "lost")


@dataclass(frozen=True)
class PlacedAnswer:
    """What is left of a model's answers to all windows of a document when every quote was looked for in the text."""

    judgement: Judgement
    quotes: tuple[int, ...]
    """How many quotes were found in each way of `COUNTED`."""
    entry: str
    """How the entry point was found; empty where none was given."""
    unplaced: tuple[str, ...]
    """The quotes that are not in the text, or in several places."""
    addressed: str = ""
    """Words of the document that are meant for a model."""


def place_answers(text: str, answers: Iterable[tuple[tuple[int, int], ModelAnswer]]) -> PlacedAnswer:
    """Return the judgement that the answers to the windows of a document make.

    A quote is looked for in its own window. The quotes of an answer come in the order of the document, which tells
    places apart that say the same; where that leaves a choice a quote has no place. The first entry point that has a
    place and is not behind all highlights is taken.
    """
    spans, points, counts, unplaced = list[tuple[int, int]](), list[tuple[int, str]](), Counter[str](), list[str]()
    for (start, end), answer in answers:
        page = Page(text[start:end])
        for quote, found in zip(answer.quotes, place_quotes(page, answer.quotes, SIMILARITY), strict=True):
            counts[HOW[found.how]] += 1
            if found.how in (AMBIGUOUS, LOST):
                unplaced.append(quote)
            else:
                spans.append((start + found.start, start + found.end))
        points += [(start + at, how) for at, how in _entry(page, answer)]
    highlights = merge(spans)
    known = [(at, how) for at, how in points if at >= 0 and highlights and at < highlights[-1][1]]
    bep, how = min(known) if known else (None, "lost" if points and highlights else "")
    judgement = Judgement(highlights, bep, RELEVANT if highlights else NOT_RELEVANT)
    return PlacedAnswer(judgement, tuple(counts[name] for name in COUNTED), how, tuple(unplaced))


def _entry(page: Page, answer: ModelAnswer) -> list[tuple[int, str]]:
    """Return the entry point of an answer with how it was found, if the answer has one and anything is relevant.

    Words that stand in several places are those of the first quote that begins with them.
    """
    if not answer.entry or not answer.quotes:
        return []
    (found,) = place(page, [Wanted(answer.entry)], SIMILARITY)
    if found.how == AMBIGUOUS:
        begun = [
            at
            for quote, at in zip(answer.quotes, place_quotes(page, answer.quotes, SIMILARITY), strict=True)
            if quote.startswith(answer.entry) and at.start >= 0
        ]
        found = begun[0] if begun else found
    return [(found.start if found.start >= 0 else -(10**9), HOW[found.how])]
