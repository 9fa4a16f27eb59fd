"""Which article a part of a document belongs to, for runs of passages whose ids can only be equal or different.

Pairs of topic and document meet by 64-bit keys, as those of whole documents do (`focuseval.match.articles`). What no
assessor judged is grouped by one sort of the keys: most lists return an article once or twice, and a sort without
equal neighbours is all that it takes to see that none comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.match.articles import Documents, _equal, _has_extension, pair_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match.results import Results


def find_parts(matched: Results) -> Documents | None:
    """Meet the documents of passages or elements with the gold's; None where ids must be compared one by one.

    Every pair that seems equal is compared as strings, so that a collision cannot change a score.
    """
    ids = matched.run.document
    whole = matched.run.start is None and matched.run.path is None
    if whole or isinstance(ids, pa.DictionaryArray) or matched.prepared.index is not None or _has_extension(matched):
        return None
    ids = matched.column(ids)
    pairs = pair_keys(ids, matched.topic)
    return _met(matched, ids, pairs)


def _met(matched: Results, ids: Any, pairs: NDArray[np.uint64]) -> Documents | None:
    prepared = matched.prepared
    known = prepared.hashed_pairs.search(pairs)
    rows, strange = np.flatnonzero(known >= 0), np.flatnonzero(known < 0)
    judged = prepared.gold.documents, prepared.gold.articles.document[known[rows]]
    if not len(rows) or not _equal(ids, rows, *judged):
        return None
    group = first_of_equal(pairs[strange])
    if group is None:
        once = int(np.bincount(known[rows]).max()) < 2
        return Documents(known, distinct=once, group=lambda: np.arange(len(strange)))
    again = np.flatnonzero(group != np.arange(len(group)))
    sure = _equal(ids, strange[again], ids, strange[group[again]])
    return Documents(known, distinct=False, group=lambda: group) if sure else None


def first_of_equal(keys: NDArray[np.uint64]) -> NDArray[np.int64] | None:
    """Return for every key the place of its first occurrence; None where no key occurs twice.

    >>> first_of_equal(np.array([7, 3, 7, 3, 5], np.uint64))
    array([0, 1, 0, 1, 4])
    >>> first_of_equal(np.array([7, 3, 5], np.uint64)) is None
    True
    """
    in_order = np.sort(keys)
    if not bool((in_order[1:] == in_order[:-1]).any()):
        return None
    order = np.argsort(keys)
    begins = np.flatnonzero(np.concatenate(([True], np.diff(keys[order]) != 0)))
    group = np.empty(len(keys), np.int64)
    group[order] = np.repeat(np.minimum.reduceat(order, begins), np.diff(begins, append=len(keys)))
    return group
