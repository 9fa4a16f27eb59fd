"""Which article a result belongs to: the documents of a run meet those that the gold judges.

In a collection they meet by its rows. Without one, pairs of topic and document meet by 64-bit keys of their ids; every
pair that seems equal is compared as strings, so that a collision cannot change a score. Where keys do not decide (two
ids share one, an id of the run has or lacks an extension), each distinct id is compared once, by the rule of
`focuseval.collection.Names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.collection.names import EXTENSION
from focuseval.data.placement import Placement
from focuseval.data.run import Run
from focuseval.data.spans import pack
from focuseval.engine.lazy import cached_property
from focuseval.engine.native import BLOCK, Lookup, encoded, hash64, indices, joint, rows_of_chunks
from focuseval.engine.workers import in_threads
from focuseval.measures.prepared import Prepared
from focuseval.measures.profiles import Policies
from focuseval.measures.topicwise import Flags, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray


_DOT = re.compile(rb"\.")
_CELLS = 8  # a table of topics × documents may have so many cells for each result: then nothing is faster


@dataclass(frozen=True, eq=False)
class Rows:
    """The results of a run that are evaluated: one block of rows for each counted topic, in the gold's order."""

    prepared: Prepared
    run: Run
    policies: Policies
    rows: Integers | None
    """Rows of the run that are evaluated, in this table's order; None for all of them as they stand."""
    bounds: Integers  # where each counted topic's block begins, and one more entry for the end of the last

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


class MatchedDocuments(NamedTuple):
    """The documents of a run's results, met with those of the gold."""

    known: NDArray[np.integer]  # for every result, the row of ``gold.articles`` that judges it, or −1
    distinct: bool  # whether no topic returns a document twice
    group: Callable[[], Integers]  # numbers the unjudged results by topic and document: equal numbers, equal pair


def find_documents(matched: Rows) -> MatchedDocuments:
    """Return the article of every result."""
    prepared, placement, ids = matched.prepared, matched.run.placement, matched.column(matched.run.document)
    if prepared.index is not None and placement is not None:
        # Meet documents by their rows in the collection; those that it does not have by their names.
        code = matched.column(document_codes(matched.run.document, prepared, placement))
        beyond = np.flatnonzero(code < 0)  # not in the gold: told apart by their names
        code[beyond] = len(prepared.gold.documents) + _name_codes(ids, beyond)[0]
        return _by_code(matched, code)
    if not pa.types.is_dictionary(ids.type) and (found := _by_keys(matched, ids)) is not None:
        return found
    column = encoded(ids)
    names = column.dictionary.cast(pa.string())
    code = prepared.codes_of_names(names)
    code = np.where(code >= 0, code, len(prepared.gold.documents) + np.arange(len(names)))
    return _by_code(matched, code[column.indices.to_numpy(zero_copy_only=False)])


def _by_keys(matched: Rows, ids: pa.Array) -> MatchedDocuments | None:
    """Meet pairs of topic and document by 64-bit keys of ids; None where keys do not tell the ids apart as names do."""
    run, topic, lookup = matched.run, matched.topic, matched.prepared.hashed_pairs
    # The reader of whole documents makes their keys, and has seen to it that no topic returns one twice.
    given = matched.column(run.keys) if run.keys is not None and run.whole_documents else None
    known, pairs = np.empty(len(ids), np.int32), np.empty(len(ids) if given is None else 0, np.uint64)

    def look(first: int) -> None:
        here = slice(first, first + BLOCK)
        pair = joint(hash64(ids.slice(first, BLOCK)) if given is None else given[here], topic[here])
        known[here] = lookup.search(pair)
        if given is None:
            pairs[here] = pair

    in_threads(look, range(0, len(ids), BLOCK), least=16)
    if not _found_by_keys(matched, ids, known):
        return None
    strange = np.flatnonzero(known < 0)
    group = np.arange(len(strange))
    if given is not None:
        return MatchedDocuments(known, distinct=True, group=lambda: group)
    in_order = np.sort(pairs[strange])
    if (in_order[1:] == in_order[:-1]).any():
        group = Lookup(pairs[strange].view(np.int64)).find(pairs[strange].view(np.int64))
        again = np.flatnonzero(group != np.arange(len(group)))
        if not _equal(rows_of_chunks(ids, strange[again]), ids, strange[group[again]]):
            return None
        return MatchedDocuments(known, distinct=False, group=lambda: group)
    once = int(np.bincount(known[known >= 0]).max(initial=0)) < 2
    return MatchedDocuments(known, distinct=once, group=lambda: group)


def _found_by_keys(matched: Rows, ids: pa.Array, known: NDArray[np.int32]) -> bool:
    """Say whether keys have found all documents: ids of equal keys are equal, and no other id lacks an extension."""
    prepared, gold = matched.prepared, matched.prepared.gold
    met = np.flatnonzero(known >= 0)
    if not _equal(rows_of_chunks(ids, met), gold.documents, gold.articles.document[known[met]]):
        return False
    if not (prepared.has_extensions or any(map(_has_dot, getattr(ids, "chunks", None) or [ids]))):
        return True
    rows = np.flatnonzero(known < 0)
    if not prepared.has_extensions:
        names = rows_of_chunks(ids, rows).cast(pa.large_string())
        rows = rows[np.asarray(pc.match_substring_regex(names, EXTENSION))]
    _, names = _name_codes(ids, rows)
    code = prepared.names.match(names)
    return _equal(names.take(indices(np.flatnonzero(code >= 0))), gold.documents, code[code >= 0])


def _equal(ids: pa.Array, others: pa.Array, rows: NDArray[np.integer]) -> bool:
    """Say whether ids are, as strings, those in some rows of others."""
    some, same = (column.cast(pa.large_string()) for column in (ids, others.take(indices(rows))))
    return pc.all(pc.equal(some, same)).as_py() is not False  # nor is it of none


def shares_documents(matched: Rows) -> bool:
    """Say whether a run and a gold name any document in common, for whatever topic."""
    return bool((document_codes(matched.run.document, matched.prepared, matched.run.placement) >= 0).any())


def document_codes(ids: pa.Array, prepared: Prepared, placement: Placement | None = None) -> Integers:
    """Return the gold's code of every document, −1 where the gold does not have it."""
    row = np.full(len(ids), -1, np.int64)
    if prepared.index is not None:
        row = (placement or Placement(prepared.index, ids)).document
    code = prepared.code_of_row[row]
    if len(unknown := np.flatnonzero(row < 0)):  # by their names alone
        which, names = _name_codes(ids, unknown)
        code[unknown] = prepared.codes_of_names(names)[which]
    return code


def _name_codes(ids: pa.Array, rows: Integers) -> tuple[Integers, pa.Array]:
    """Return a number for the id of each of some rows, and the distinct ids that the numbers stand for."""
    column = encoded(ids.take(indices(rows)))
    return column.indices.to_numpy(zero_copy_only=False).astype(np.int64), column.dictionary.cast(pa.string())


def _by_code(matched: Rows, code: Integers) -> MatchedDocuments:
    """Meet pairs of topic and document code; codes beyond the gold's documents tell other documents apart."""
    prepared, width = matched.prepared, int(code.max(initial=-1)) + 1
    if width * matched.topics > _CELLS * (len(code) + len(prepared.topic)):
        key = pack(matched.topic, code)
        known = prepared.pairs.find(key)
        return MatchedDocuments(known, distinct=False, group=lambda: Lookup(key[known < 0]).find(key[known < 0]))
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


def _has_dot(ids: pa.Array) -> bool:
    """Say whether an id may carry a file extension: no dot, no extension. One look at the bytes."""
    buffer = (ids.dictionary if isinstance(ids, pa.DictionaryArray) else ids).buffers()[2]
    return buffer is not None and _DOT.search(memoryview(buffer)) is not None
