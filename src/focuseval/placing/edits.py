"""The place in a text that is fewest edits away from a pattern, by Myers' bit-parallel algorithm.

Gene Myers, *A fast bit-vector algorithm for approximate string matching based on dynamic programming*, Journal of
the ACM 46(3), 1999. A column of the edit-distance table is two integers of as many bits as the pattern is long;
Python's integers have any length, so one short loop over the text serves patterns of any size.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise


def distances(pattern: str, text: str, *, anchored: bool = False) -> list[int]:
    """Return, for every end in the text, the edits between the pattern and the best stretch that ends there.

    With `anchored` the stretch must begin where the text does. Entry j speaks of ``text[:j]``.

    >>> distances("abc", "xxabd")
    [3, 3, 3, 2, 1, 1]
    >>> distances("abc", "ab", anchored=True)
    [3, 2, 1]
    """
    size = len(pattern)
    full, top = (1 << size) - 1, (1 << size) >> 1
    equal: dict[str, int] = defaultdict(int)
    for i, character in enumerate(pattern):
        equal[character] |= 1 << i
    plus, minus, score, first = full, 0, size, int(anchored)
    scores = [score]
    for character in text:
        same = equal.get(character, 0)
        vertical = same | minus
        horizontal = (((same & plus) + plus) ^ plus) | same
        up = minus | (~(horizontal | plus) & full)
        down = plus & horizontal
        score += bool(up & top) - bool(down & top)
        scores.append(score)
        up = (up << 1) | first
        down <<= 1
        plus = (down | ~(vertical | up)) & full
        minus = up & vertical & full
    return scores


def nearest_stretches(pattern: str, text: str, allowed: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the fewest edits, and every stretch of a text that needs no more; none when it takes more than `allowed`.

    Ends within that many edits of each other belong to one stretch: cutting a wrong last character off costs as
    much as keeping it. The longer reading is taken, and the beginning that makes it most nearly as long as the pattern.

    >>> nearest_stretches("similar", "a simylar, simylar text", 2)
    (1, [(2, 9), (11, 18)])
    """
    scores = distances(pattern, text)
    edits = min(scores)
    if edits > allowed:
        return edits, []
    ends = [end for end, score in enumerate(scores) if score == edits]
    lasts = [end for end, following in pairwise([*ends, len(text) + edits + 1]) if following - end > edits]
    return edits, [(_beginning(pattern, text, end, edits), end) for end in lasts]


def _beginning(pattern: str, text: str, end: int, edits: int) -> int:
    """Return where the stretch begins that ends here and is so many edits away from the pattern."""
    back = distances(pattern[::-1], text[max(0, end - len(pattern) - edits) : end][::-1], anchored=True)
    lengths = [length for length, score in enumerate(back) if score == edits]
    return end - min(lengths, key=lambda length: (abs(length - len(pattern)), length))
