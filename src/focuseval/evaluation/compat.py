"""Another tool's numbers beside ours, and what in the data makes them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MeasureError
from focuseval.measures.measure import MeasureCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.measures.matching.matched import Matched
    from focuseval.measures.peers import Peer, Twin


def with_twins(asked: Sequence[MeasureCall], peer: Peer) -> tuple[MeasureCall, ...]:
    """Put behind every measure that the peer also has the peer's own number."""
    both: list[MeasureCall] = []
    for mine in asked:
        twin = _twin_of(mine, peer)
        both += [mine] if twin is None else [mine, MeasureCall(twin.theirs, mine.at)]
    if len(both) == len(asked):
        known = ", ".join(twin.ours + ("@k" if twin.theirs.at else "") for twin in peer.twins)
        raise MeasureError(f"--compat {peer.name} has numbers of its own for {known}; ask for one of them with -m")
    return tuple(both)


def _twin_of(mine: MeasureCall, peer: Peer) -> Twin | None:
    """Return what the peer has for a measure: at a rank or for the whole list, never at a budget of text."""
    if mine.at and not mine.at.isdigit():
        return None
    bare = str(mine).partition("@")[0]
    return next((twin for twin in peer.twins if twin.ours == bare), None)


def explain(matched: Matched, asked: Sequence[MeasureCall], values: NDArray[Any], peer: Peer) -> Iterator[str]:
    """Say for each of the peer's numbers on how many topics it differs from ours, and why."""
    for column, mine in enumerate(asked):
        twin = _twin_of(mine, peer)
        if twin is None:
            continue
        theirs, pair = values[:, column + 1], f"{matched.run.run_id}: {asked[column + 1]}"
        differ = ~np.isclose(values[:, column], theirs, rtol=0, atol=1e-12, equal_nan=True)
        if not differ.any():
            yield f"{pair} equals {mine} in all {len(differ)} topics"
            continue
        at = int(mine.at) if mine.at else None
        counts = [(int(np.count_nonzero(differ & r.holds(matched, at))), r.said) for r in twin.reasons]
        because = "; ".join(f"in {number} {said}" for number, said in counts if number)
        most = f", up to {np.nanmax(theirs):.4g}" if np.nanmax(theirs) > 1 else ""
        yield f"{pair} differs from {mine} in {differ.sum()} of {len(differ)} topics{most}: {because}"
