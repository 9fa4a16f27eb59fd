"""Ids, paths, offsets, quotes and texts → document rows and spans: the only package that places anything.

`place_run` and `place_gold` put a run or a gold into a collection, once; everything that needs to know where a result
or a highlight lies reads what they found: the columns `start` and `end`, and the `Placement` beside them.
"""

from __future__ import annotations

from focuseval.align.alignment import Alignment, repairs_of
from focuseval.place.golds import align_gold, place_gold
from focuseval.place.runs import align_run, place_run
from focuseval.place.texts import SIMILARITY, align_chunks
from focuseval.placement import (
    AMBIGUOUS,
    BAD_SPAN,
    LOST,
    NO_DOCUMENT,
    NO_PLACE,
    POINT,
    SPAN,
    STATUS,
    UNKNOWN_PLACE,
    Placement,
)

__all__ = [
    "AMBIGUOUS",
    "BAD_SPAN",
    "LOST",
    "NO_DOCUMENT",
    "NO_PLACE",
    "POINT",
    "SIMILARITY",
    "SPAN",
    "STATUS",
    "UNKNOWN_PLACE",
    "Alignment",
    "Placement",
    "align_chunks",
    "align_gold",
    "align_run",
    "place_gold",
    "place_run",
    "repairs_of",
]
