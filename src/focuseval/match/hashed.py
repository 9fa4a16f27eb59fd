"""Which article a result belongs to, where ids can only be equal or different: pairs meet by 64-bit keys.

Every pair of topic and document that seems equal is compared as strings, so that a collision cannot change a score.
What no assessor judged is grouped by one sort of the keys: most lists return an article once or twice, and a sort
without equal neighbours is all that it takes to see that none comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.keys import hash64, indices, joint, rows_of_chunks
from focuseval.match.articles import MatchedDocuments
from focuseval.match.lookup import BLOCK, in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match.results import Results


def find_by_hash(matched: Results) -> MatchedDocuments | None:
    """Meet the run's document ids with the gold's; None where they must be compared one by one.

    Parts of documents may name their document with or without its extension; whole documents only where no id of the
    run is known as it stands.
    """
    run, whole = matched.run, matched.run.start is None and matched.run.path is None
    if isinstance(run.document, pa.DictionaryArray) or matched.prepared.index is not None:
        return None
    if not whole and _may_have_extension(matched):
        return None
    ids = matched.column(run.document)
    if whole and run.keys is not None:
        return _by_promised_keys(matched, ids, matched.column(run.keys))
    return _by_pairs(matched, ids, _pair_keys(ids, matched.topic))


def _by_promised_keys(matched: Results, ids: Any, keys: NDArray[np.uint64]) -> MatchedDocuments | None:
    """Meet whole documents by the keys that their reader made: it has seen to it that no topic returns one twice."""
    prepared, topic = matched.prepared, matched.topic
    lookup, known = prepared.hashed_pairs, np.empty(len(keys), np.int32)

    def look(first: int) -> None:
        here = slice(first, first + BLOCK)
        known[here] = lookup.search(joint(keys[here], topic[here]))

    in_threads(look, range(0, len(keys), BLOCK))
    rows = np.flatnonzero(known >= 0)
    if not _met(matched, ids, rows, known):
        return None
    return MatchedDocuments(known, distinct=True, group=lambda: np.arange(len(known) - len(rows)))


def _by_pairs(matched: Results, ids: Any, pairs: NDArray[np.uint64]) -> MatchedDocuments | None:
    """Meet pairs of topic and document, each maybe returned more than once."""
    known = matched.prepared.hashed_pairs.search(pairs)
    rows, strange = np.flatnonzero(known >= 0), np.flatnonzero(known < 0)
    if not _met(matched, ids, rows, known):
        return None
    group = first_of_equal(pairs[strange])
    if group is None:
        once = int(np.bincount(known[rows]).max(initial=0)) < 2
        return MatchedDocuments(known, distinct=once, group=lambda: np.arange(len(strange)))
    again = np.flatnonzero(group != np.arange(len(group)))
    sure = _equal(ids, strange[again], ids, strange[group[again]])
    return MatchedDocuments(known, distinct=False, group=lambda: group) if sure else None


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


def _met(matched: Results, ids: Any, rows: NDArray[np.int64], known: NDArray[np.int32]) -> bool:
    """Say whether pairs with equal keys are equal, and there are some, unless other topics of the run may have them."""
    gold = matched.prepared.gold
    if not len(rows):
        return matched.prepared.whole is not None
    return _equal(ids, rows, gold.documents, gold.articles.document[known[rows]])


def _equal(ids: Any, rows: NDArray[np.integer], others: Any, other_rows: NDArray[np.integer]) -> bool:
    """Compare ids as strings."""
    some, same = _plain(rows_of_chunks(ids, rows)), _plain(others.take(indices(other_rows)))
    return bool(pc.all(pc.equal(some, same)).as_py() is not False)


def _plain(ids: Any) -> Any:
    """Return ids as one array of plain strings."""
    return pc.cast(ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids, pa.large_string())


def _may_have_extension(matched: Results) -> bool:
    """Say whether ids may carry a file extension: no dot, no extension. One look at the bytes."""
    return any(
        b"." in memoryview(buffer).tobytes()
        for ids in (matched.run.document, matched.prepared.gold.documents)
        for chunk in (ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids])
        if (buffer := (chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk).buffers()[2]) is not None
    )


def _pair_keys(ids: Any, topic: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a key for the topic and document of every result, a block at a time: ten million rows fill memory."""
    pairs = np.empty(len(topic), np.uint64)
    block = 1 << 19

    def fill(first: int) -> None:
        part = slice(first, first + block)
        pairs[part] = joint(hash64(ids.slice(first, block)), topic[part])

    in_threads(fill, range(0, len(topic), block))
    return pairs
