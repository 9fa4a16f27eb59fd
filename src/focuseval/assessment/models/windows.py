"""A long document in overlapping windows, so that every passage of ordinary length stands whole in one of them."""

from __future__ import annotations

OVERLAP = 0.1
"""The share of a window that it has in common with the one before it."""


def windows(text: str, size: int) -> list[tuple[int, int]]:
    """Return the spans of windows of at most `size` characters that cover a text; they end after a blank, if they can.

    >>> windows("one two three four", 10)
    [(0, 8), (7, 14), (13, 18)]
    >>> windows("short", 10), windows("", 10)
    ([(0, 5)], [])
    """
    spans, start, shared = [], 0, max(1, int(size * OVERLAP))
    while start < len(text):
        end = start + size
        if end >= len(text):
            spans.append((start, len(text)))
            break
        end = _after_blank(text, start + size * 3 // 4, end)
        spans.append((start, end))
        start = end - shared
    return spans


def _after_blank(text: str, least: int, end: int) -> int:
    """Return the last position from `least` to `end` behind white space; `end` where there is none."""
    return next((place for place in range(end, least - 1, -1) if text[place - 1].isspace()), end)
