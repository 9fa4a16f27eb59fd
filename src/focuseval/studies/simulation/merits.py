"""What each element of the judged articles merits under a task: in this order a run of them scores best.

====================  =============================================================================================
thorough              its gain in the recall base
focused, spans        elements of the ideal recall base before all others, by gain
relevant-in-context   elements of the ideal recall base, articles by the F of what is returned from them; others nothing
fetch-browse          the same
best-in-context       nearness of its start to the best entry point of its article
====================  =============================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Elements
    from focuseval.measures.matching.prepared import Prepared

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Candidates = tuple[Elements, Integers, Integers]
    """Elements, the article of each, and the rows that may be returned."""


def merits(prepared: Prepared, candidates: Candidates, task: str, without: tuple[str, ...] = ()) -> Floats:
    """Return what every candidate merits, from 0 to 1; `without` are tags that are not in the recall base."""
    if task == "best-in-context":
        return _nearness(prepared, candidates)
    elements, article, rows = candidates
    base = prepared.assessed.base("auto", without)
    code = np.asarray(base.tree.find(elements.path_strings(rows)), np.int64)
    known = np.flatnonzero(code >= 0)
    found = np.full(len(rows), -1, np.int64)
    found[known] = base.lookup.find(base.key_of(article[rows[known]], code[known]))
    gain = np.append(base.gain / max(float(base.gain.max(initial=0)), 1.0), 0.0)[found]
    if task == "thorough":
        return gain
    ideal = np.append(np.isin(np.arange(len(base)), base.ideal), values=False)[found]
    if task in {"focused", "spans"}:
        return np.where(ideal, (1 + gain) / 2, gain / 2)
    return _in_context(prepared, candidates, ideal)


def _in_context(prepared: Prepared, candidates: Candidates, ideal: NDArray[np.bool_]) -> Floats:
    """Return for ideal elements the F that all of them in their article reach together, 0 for all others."""
    elements, article, rows = candidates
    mine = rows[ideal]
    start, end, number = elements.start[mine], elements.end[mine], len(prepared.topic)
    held = np.bincount(article[mine], prepared.highlights.covered(article[mine], start, end), number)
    size = np.bincount(article[mine], end - start, number)
    f = 2 * held / np.maximum(size + prepared.trel, 1)  # of P = held / size and R = held / Trel
    return np.where(ideal, f[article[rows]], 0.0)


def _nearness(prepared: Prepared, candidates: Candidates) -> Floats:
    """Return how near an element starts to its article's best entry point; 0 where the article has none."""
    elements, article, rows = candidates
    bep, length = prepared.bep[article[rows]], np.maximum(prepared.length[article[rows]], 1)
    near = 1 - np.abs(elements.start[rows] - bep) / (length + 1)
    return np.where((bep >= 0) & prepared.relevant[article[rows]], np.maximum(near, 0.0), 0.0)
