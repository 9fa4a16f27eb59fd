"""Which article a result belongs to: the documents of a run meet those that the gold judges.

In a collection they meet by its rows. Without one, pairs of topic and document meet by 64-bit keys; every pair that
seems equal is compared as strings, so that a collision cannot change a score, and an id that the gold does not have as
it stands is decided by the rule of `focuseval.collection.Names`. What no assessor judged is grouped by one sort of the
keys: most lists return an article once or twice, and a sort without equal neighbours shows that none comes back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.names import EXTENSION
from focuseval.data.placement import Placement
from focuseval.engine.lazy import cached_property
from focuseval.engine.native import BLOCK, Lookup, encoded, hash64, indices, joint, rows_of_chunks
from focuseval.engine.workers import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.data.run import Run
    from focuseval.measures.prepared import Prepared
    from focuseval.measures.profiles import Policies
    from focuseval.measures.topicwise import Flags, Integers


_DOT = re.compile(rb"\.")
_HASHED = 1 << 19
"""Ids that are hashed at a time: ten million rows would fill memory."""
_CELLS = 8
"""A table of topics × documents may have so many cells for each result: then nothing is faster."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The results of a run that are evaluated: one block of rows for each counted topic, in the gold's order."""

    prepared: Prepared
    run: Run
    policies: Policies
    rows: Integers | None
    """Rows of the run that are evaluated, in this table's order; None for all of them as they stand."""
    bounds: Integers
    """Where each counted topic's block begins, and one more entry for the end of the last."""

    def __len__(self) -> int:
        """Return the number of results."""
        return int(self.bounds[-1])

    @property
    def topics(self) -> int:
        """The number of counted topics."""
        return len(self.bounds) - 1

    @cached_property
    def answered(self) -> Flags:
        """For every counted topic, whether the run returned anything, or answered without a citation."""
        returned = np.diff(self.bounds) > 0
        if self.run.answers:
            returned |= [name in self.run.answers for name in self.prepared.topics]
        return np.asarray(returned)

    @cached_property
    def topic(self) -> NDArray[np.int32]:
        """For every result, its counted topic; the run's own column where its topics are the counted ones."""
        if self.rows is None and np.array_equal(self.bounds, self.run.bounds):
            return self.run.topic
        return np.repeat(np.arange(self.topics, dtype=np.int32), np.diff(self.bounds))

    @cached_property
    def rank(self) -> Integers:
        """For every result, its rank in its topic, from 1."""
        return ranks(self.bounds)

    def column(self, values: Any) -> Any:
        """Return a column of the run (NumPy or Arrow) in this table's order."""
        return values if self.rows is None else values.take(self.rows)

    @cached_property
    def path(self) -> pa.Array | None:
        """Element paths, or None when the run has none."""
        return None if self.run.path is None else self.column(self.run.path)


def ranks(bounds: Integers) -> Integers:
    """Return 1, 2, … within each block.

    >>> ranks(np.array([0, 2, 2, 5]))
    array([1, 2, 1, 2, 3])
    """
    return np.arange(1, bounds[-1] + 1) - np.repeat(bounds[:-1], np.diff(bounds))


@dataclass(frozen=True, eq=False)
class MatchedDocuments:
    """The documents of a run's results, met with those of the gold."""

    known: NDArray[np.integer]
    """For every result, the row of ``gold.articles`` that judges it, or −1."""
    distinct: bool
    """Whether no topic returns a document twice."""
    group: Callable[[], Integers]
    """Numbers the unjudged results by topic and document: equal numbers, equal pair."""


def find_documents(matched: Rows) -> MatchedDocuments:
    """Return the article of every result."""
    prepared, placement = matched.prepared, matched.run.placement
    if prepared.index is not None and placement is not None:
        # Meet documents by their rows in the collection; those that it does not have by their names.
        code = matched.column(document_codes(matched.run.document, prepared, placement))
        beyond = np.flatnonzero(code < 0)  # not in the gold: told apart by their names
        strange, _ = _name_codes(matched.column(matched.run.document), beyond)
        code[beyond] = len(prepared.gold.documents) + strange
        return _by_code(matched, code)
    if matched.run.keys is not None and matched.run.whole_documents:
        # Meet whole documents by the keys that their reader made: it has seen to it that no topic returns one twice.
        topic, keys = matched.topic, matched.column(matched.run.keys)
        lookup, known = prepared.hashed_pairs, np.empty(len(keys), np.int32)

        def look(first: int) -> None:
            here = slice(first, first + BLOCK)
            known[here] = lookup.search(joint(keys[here], topic[here]))

        in_threads(look, range(0, len(keys), BLOCK), least=16)
        if len(_respelt(matched, known).rows):
            return _by_pairs(matched)
        unjudged = int(np.count_nonzero(known < 0))
        return MatchedDocuments(known, distinct=True, group=lambda: np.arange(unjudged))
    if pa.types.is_dictionary(matched.run.document.type):
        # Compare each distinct id with those of the gold once: chunks and elements name the same documents repeatedly.
        ids = encoded(matched.column(matched.run.document))
        names = ids.dictionary.cast(pa.string())
        code = prepared.names.match(names).astype(np.int64)
        code = np.where(code >= 0, prepared.same[code], len(prepared.gold.documents) + np.arange(len(names)))
        return _by_code(matched, code[ids.indices.to_numpy(zero_copy_only=False)])
    return _by_pairs(matched)


def shares_documents(matched: Rows) -> bool:
    """Say whether a run and a gold name any document in common, for whatever topic."""
    return bool((document_codes(matched.run.document, matched.prepared, matched.run.placement) >= 0).any())


def document_codes(ids: pa.Array, prepared: Prepared, placement: Placement | None = None) -> Integers:
    """Return the gold's code of every document, −1 where the gold does not have it."""
    if prepared.index is None:
        return _codes_of_names(ids, np.arange(len(ids)), prepared)
    row = (placement or Placement(prepared.index, ids)).document
    code = prepared.code_of_row[row]
    unknown = np.flatnonzero(row < 0)
    if len(unknown):
        code[unknown] = _codes_of_names(ids, unknown, prepared)
    return code


def _codes_of_names(ids: pa.Array, rows: Integers, prepared: Prepared) -> Integers:
    """Return the gold's code of some documents, by their names alone."""
    which, names = _name_codes(ids, rows)
    code = prepared.names.match(names).astype(np.int64)
    return np.where(code >= 0, prepared.same[code], -1)[which]


def _name_codes(ids: pa.Array, rows: Integers) -> tuple[Integers, pa.Array]:
    """Return a number for the id of each of some rows, and the distinct ids that the numbers stand for."""
    column = encoded(ids.take(indices(rows)))
    return column.indices.to_numpy(zero_copy_only=False).astype(np.int64), column.dictionary.cast(pa.string())


def _firsts(keys: Integers) -> Integers:
    """Return for every key the place of its first occurrence."""
    return Lookup(keys).find(keys)


def _by_code(matched: Rows, code: Integers) -> MatchedDocuments:
    """Meet pairs of topic and document code; codes beyond the gold's documents tell other documents apart."""
    prepared, width = matched.prepared, int(code.max(initial=-1)) + 1
    if width * matched.topics > _CELLS * (len(code) + len(prepared.topic)):
        key = prepared.pair_key(matched.topic, code)
        known = prepared.pairs.find(key)
        return MatchedDocuments(known, distinct=False, group=lambda: _firsts(key[known < 0]))
    cell = matched.topic.astype(np.int64) * width + code
    table = np.full(width * matched.topics, -1, np.int64)
    document = prepared.same[prepared.gold.articles.document]
    here = np.flatnonzero((prepared.topic >= 0) & (document < width))[::-1]
    table[prepared.topic[here] * np.int64(width) + document[here]] = here  # backwards: of equal pairs the first stays
    known = table[cell]

    def group() -> Integers:
        strange = cell[known < 0]
        table[strange[::-1]] = np.arange(len(strange))[::-1]
        return np.asarray(table[strange])

    return MatchedDocuments(known, distinct=False, group=group)


def _by_pairs(matched: Rows) -> MatchedDocuments:
    """Meet pairs of topic and document, each maybe returned more than once."""
    prepared, ids = matched.prepared, matched.column(matched.run.document)
    pairs = np.empty(len(matched.topic), np.uint64)

    def fill(first: int) -> None:
        part = slice(first, first + _HASHED)
        pairs[part] = joint(hash64(ids.slice(first, _HASHED)), matched.topic[part])

    in_threads(fill, range(0, len(pairs), _HASHED), least=16)
    known = prepared.hashed_pairs.search(pairs)
    other = _respelt(matched, known)
    pairs[other.rows] = joint(prepared.document_keys[other.code], matched.topic[other.rows])
    known[other.rows] = prepared.hashed_pairs.search(pairs[other.rows])
    strange = np.flatnonzero(known < 0)
    group = first_of_equal(pairs[strange])
    if group is None:
        once = int(np.bincount(known[known >= 0]).max(initial=0)) < 2
        return MatchedDocuments(known, distinct=once, group=lambda: np.arange(len(strange)))
    again = np.flatnonzero(group != np.arange(len(group)))
    documents = prepared.gold.documents
    some, same = (other.names(ids, strange[rows], documents) for rows in (again, group[again]))
    if not pc.all(pc.equal(some, same)).as_py():  # two ids share a key
        codes = encoded(other.names(ids, strange, documents)).indices.to_numpy(zero_copy_only=False)
        group = _firsts(prepared.pair_key(matched.topic[strange], codes))
    return MatchedDocuments(known, distinct=False, group=lambda: group)


@dataclass(frozen=True, eq=False)
class Respelt:
    """Results whose document the gold has, under another spelling of its id."""

    rows: Integers
    code: Integers
    """The document's code in the gold."""

    def names(self, ids: pa.Array, rows: Integers, documents: pa.Array) -> pa.Array:
        """Return the ids of some results as the gold spells them."""
        names = _plain(ids.take(indices(rows)))
        at = np.searchsorted(self.rows, rows)
        mine = np.append(self.rows, -1)[at] == rows
        if not mine.any():
            return names
        return pc.replace_with_mask(names, pa.array(mine), _plain(documents.take(indices(self.code[at[mine]]))))


def _respelt(matched: Rows, known: NDArray[np.int32]) -> Respelt:
    """Return the results that keys do not find because their id has or lacks an extension.

    Equal keys of different ids are no match: what they found is corrected in place.
    """
    prepared, ids = matched.prepared, matched.column(matched.run.document)
    met, gold = np.flatnonzero(known >= 0), prepared.gold
    equal = _equal(ids, met, gold.documents, gold.articles.document[known[met]])
    known[met[~equal]] = -1
    rows = met[~equal]
    if prepared.has_extensions:
        rows = np.flatnonzero(known < 0)
    elif any(_has_dot(chunk) for chunk in (getattr(matched.run.document, "chunks", None) or [matched.run.document])):
        rows = np.flatnonzero(known < 0)
        names = _plain(rows_of_chunks(ids, rows))
        rows = rows[pc.match_substring_regex(names, EXTENSION).to_numpy(zero_copy_only=False)]
    if not len(rows):
        return Respelt(rows, rows)
    which, names = _name_codes(ids, rows)
    code = prepared.names.match(names)[which].astype(np.int64)
    exact = code >= 0
    exact[exact] = _equal(ids, rows[exact], gold.documents, code[exact])
    pairs = prepared.pair_key(matched.topic[rows[exact]], code[exact])
    known[rows[exact]] = prepared.pairs.find(pairs)  # another id with this key was found first
    other = ~exact & (code >= 0)
    return Respelt(rows[other], code[other])


def _has_dot(ids: pa.Array) -> bool:
    """Say whether an id may carry a file extension: no dot, no extension. One look at the bytes."""
    buffer = (ids.dictionary if isinstance(ids, pa.DictionaryArray) else ids).buffers()[2]
    return buffer is not None and _DOT.search(memoryview(buffer)) is not None


def first_of_equal(keys: NDArray[np.uint64]) -> Integers | None:
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


def _equal(ids: pa.Array, rows: NDArray[np.integer], others: pa.Array, other_rows: NDArray[np.integer]) -> Flags:
    """Compare ids as strings."""
    some, same = _plain(rows_of_chunks(ids, rows)), _plain(others.take(indices(other_rows)))
    equal: Flags = pc.equal(some, same).to_numpy(zero_copy_only=False)
    return equal


def _plain(ids: pa.Array) -> pa.Array:
    """Return ids as one array of plain strings."""
    whole = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    return pc.cast(whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole, pa.large_string())
