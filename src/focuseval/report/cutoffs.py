"""How much of a list a measure looks at, so that the text can show just that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.measures import parse  # noqa: F401  for the example
from focuseval.measures.measure import Budget, parse_at

if TYPE_CHECKING:
    from focuseval.measures import Asked


def cut_of(asked: Asked) -> list[int | str] | None:
    """Return amount and unit of a measure's cut-off: results, articles or characters; None where it reads all.

    A budget of words has none: only the engine knows where words end. Nor has one of each article by itself.

    >>> cut_of(parse("spanR@2000c")), cut_of(parse("gP@5")), cut_of(parse("IoU@3")), cut_of(parse("MAgP"))
    ([2000, 'characters'], [5, 'articles'], [3, 'results'], None)
    """
    at = parse_at(asked.at, asked.measure) if asked.at else None
    grouped = "grouped output" in asked.measure.traits
    if isinstance(at, Budget):
        return None if at.unit == "words" or grouped else [at.amount, at.unit]
    if not isinstance(at, int):
        return None
    return [at, "articles" if grouped or "documents" in asked.measure.needs else "results"]
