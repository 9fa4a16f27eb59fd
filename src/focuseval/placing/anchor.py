"""Find highlights again in a text that has changed: the nearest occurrence of each quote; a tie is refused.

Nothing is moved without being shown: a `Proposal` says for every highlight where it went, and holds a diff of the
two texts around it. Only a proposal without a lost or doubtful highlight can be accepted as it stands.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from focuseval.data.highlights import Spans, merge
from focuseval.placing.occurrences import find_all
from focuseval.placing.page import OPEN, nearest_candidate

SAME, MOVED, LOST, TIE = "same", "moved", "lost", "tie"
REMEDY = "open it to re-anchor it, or import it again"


@dataclass(frozen=True)
class Anchored:
    """One quote: where it stood, where it stands, and how sure that is."""

    quote: str
    before: tuple[int, int]
    after: tuple[int, int] | None
    verdict: str


@dataclass(frozen=True)
class Proposal:
    """Where all highlights of a judgement, and its entry point, stand in the new text."""

    highlights: tuple[Anchored, ...]
    bep: int | None

    @property
    def spans(self) -> Spans:
        """The highlights that were found again."""
        return merge(one.after for one in self.highlights if one.after)

    @property
    def complete(self) -> bool:
        """Whether every quote was found, and in one nearest place."""
        return all(one.after for one in self.highlights)


def nearest(text: str, quote: str, start: int) -> tuple[int | None, str]:
    """Return where `quote` stands nearest to `start`, and a verdict.

    >>> nearest("a rose is a rose", "rose", 2), nearest("a rose is a rose", "rose", 11)
    ((2, 'same'), (12, 'moved'))
    >>> nearest("xax", "x", 1), nearest("abc", "x", 1)
    ((None, 'tie'), (None, 'lost'))
    """
    if text.startswith(quote, start) and start >= 0:
        return start, SAME
    starts = find_all(text, quote)
    row = nearest_candidate(starts, start) if starts else OPEN
    return (starts[row], MOVED) if row != OPEN else (None, TIE if starts else LOST)


def propose(bep: int | None, quotes: Sequence[tuple[int, int, str]], text: str) -> Proposal:
    """Return where highlights stand in a new text, and an entry point, which goes with the highlight before it."""
    anchored = []
    for start, end, quote in quotes:
        place, verdict = nearest(text, quote, start)
        after = None if place is None else (place, place + len(quote))
        anchored.append(Anchored(quote, (start, end), after, verdict))
    if bep is not None:
        shifts = [one.after[0] - one.before[0] for one in anchored if one.after and one.before[0] <= bep]
        moved = bep + (shifts[-1] if shifts else 0)
        bep = moved if 0 <= moved < len(text) else None
    return Proposal(tuple(anchored), bep)


def diff(quote: str, text: str, around: int, *, width: int = 80) -> list[str]:
    """Return how the passage read and how the text near it reads now, as lines of a unified diff.

    >>> diff("The tide is the rise of the sea.", "On tides: The tide is a rise of the sea. It falls.", 0)[3:]
    ['-The tide is the rise of the sea.', '+The tide is a rise of the sea.']
    """
    now = _counterpart(quote, text[max(0, around - 5 * width) : around + len(quote) + 5 * width])
    if now is None:
        now = text[max(0, around - width) : around + len(quote) + width]
    old, new = ([f"{line}\n" for line in passage.splitlines()] for passage in (quote, now))
    return [line.rstrip("\n") for line in difflib.unified_diff(old, new, "as highlighted", "as it is now", n=1)]


def _counterpart(quote: str, near: str) -> str | None:
    """Return the part of a text that a passage has become, by the words that stayed; None when few did."""
    before, after = (re.findall(r"\s+|\w+|\W", passage) for passage in (quote, near))
    if max(len(before), len(after)) > 3_000:  # to compare more word by word takes too long
        return None
    same = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = [block for block in same if any(word.isalnum() for word in before[block.a : block.a + block.size])]
    if 2 * sum(block.size for block in kept) < len(before):
        return None
    start = max(0, kept[0].b - kept[0].a)
    end = kept[-1].b + len(before) - kept[-1].a
    return "".join(after[start:end])
