"""How much of a list a measure looks at, so that the text can show just that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.measure import (
    Budget,
    parse,  # noqa: F401  for the example
    parse_at,
)
from focuseval.measures.spans import paid_ends
from focuseval.measures.topicwise import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from focuseval.measures.matching.matched import Matched
    from focuseval.measures.measure import MeasureCall


def cut_of(asked: MeasureCall) -> list[int | str] | None:
    """Return amount and unit of a measure's cut-off: results, articles, characters, words or tokens.

    None where it reads all, and for a budget of each article by itself.

    >>> cut_of(parse("spanR@2000c")), cut_of(parse("gP@5")), cut_of(parse("IoU@3")), cut_of(parse("MAgP"))
    ([2000, 'characters'], [5, 'articles'], [3, 'results'], None)
    """
    at = parse_at(asked.at, asked.measure) if asked.at else None
    grouped = "grouped output" in asked.measure.traits
    if isinstance(at, Budget):
        return None if grouped else [at.amount, at.unit]
    if not isinstance(at, int):
        return None
    return [at, "articles" if grouped or "documents" in asked.measure.needs else "results"]


def counted_budgets(measures: Iterable[MeasureCall]) -> tuple[Budget, ...]:
    """Return the budgets of words and tokens among the cut-offs: only the engine knows where those end.

    >>> counted_budgets([parse("spanR@300w"), parse("IoU@300w"), parse("spanR@2000c")])
    (Budget(amount=300, unit='words'),)
    """
    cuts = [cut for asked in measures if (cut := cut_of(asked)) is not None and cut[1] in {"words", "tokens"}]
    return tuple(dict.fromkeys(Budget(int(amount), str(unit)) for amount, unit in cuts))


def characters_read(matched: Matched, budget: Budget) -> NDArray[np.int64]:
    """Return how many characters, repeats included, each topic's list shows within a budget."""
    paid, _, end = paid_ends(matched, budget)
    return count(np.where(paid, end - matched.start, 0), matched.bounds)
