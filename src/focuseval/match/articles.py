"""Which article a result belongs to: document ids of the run meet those of the gold, compared one by one.

Ids match exactly; through an index also with or without extension, and without an index by dropping the extension
on either side, refusing what would be ambiguous. Where ids can only be equal, `focuseval.match.hashed` is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import InputError
from focuseval.match.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.match.prepared import Prepared
    from focuseval.match.results import Results

_ROOMY = 8
"""A table of topics × documents may have so many cells for each result."""

EXTENSION = r"\.[A-Za-z][A-Za-z0-9]{0,4}$"


@dataclass(frozen=True)
class MatchedDocuments:
    """The documents of a run's results, met with those of the gold."""

    known: NDArray[np.integer]
    """For every result, the row of ``gold.articles`` that judges it, or −1."""
    distinct: bool
    """Whether no topic returns a document twice."""
    group: Callable[[], NDArray[np.int64]]
    """Numbers the unjudged results by topic and document: equal numbers, equal pair."""


def find_by_name(matched: Results) -> MatchedDocuments:
    """Compare every distinct id: exactly, through the index, without extension."""
    prepared = matched.prepared
    ids = dictionary(matched.column(matched.run.document))
    code = document_codes(ids.dictionary, prepared)[ids.indices.to_numpy(zero_copy_only=False)]
    width = int(code.max(initial=-1)) + 1
    if width * matched.topics <= _ROOMY * (len(code) + len(prepared.topic)):
        return find_by_table(prepared, matched.topic.astype(np.int64) * width + code, width)
    key = prepared.pair_key(matched.topic, code)
    known = prepared.pairs.find(key)
    return MatchedDocuments(known, distinct=False, group=lambda: _firsts(key[known < 0]))


def find_by_table(prepared: Prepared, cell: NDArray[np.int64], width: int) -> MatchedDocuments:
    """Meet pairs in a table of topics × documents: where it is not much larger than the run, nothing is faster."""
    table = np.full(width * len(prepared.topics), -1, np.int64)
    document = prepared.gold.articles.document
    here = np.flatnonzero((prepared.topic >= 0) & (document < width))[::-1]
    table[prepared.topic[here] * np.int64(width) + document[here]] = here  # backwards: of equal pairs the first stays
    known = table[cell]

    def group() -> NDArray[np.int64]:
        strange = cell[known < 0]
        table[strange[::-1]] = np.arange(len(strange))[::-1]
        return table[strange]

    return MatchedDocuments(known, distinct=False, group=group)


def _firsts(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every key the place of its first occurrence."""
    return Lookup(keys).find(keys)


def group_articles(matched: Results) -> NDArray[np.int64]:
    """Return every result's article: a row of ``gold.articles``, numbers beyond for unjudged pairs."""
    article = matched.known.astype(np.int64)
    article[article < 0] = len(matched.prepared.topic) + matched.documents.group()
    return article


def dictionary(ids: Any) -> Any:
    """Return ids as one dictionary-encoded array."""
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
        if isinstance(ids, pa.ChunkedArray):
            ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], ids.type)
    return ids if isinstance(ids, pa.DictionaryArray) else ids.dictionary_encode()


def document_codes(ids: Any, prepared: Prepared) -> NDArray[np.int64]:
    """Return the gold's code of each distinct id; ids that the gold does not know get numbers beyond."""
    known = prepared.gold.documents
    code = _index_in(ids, known)
    if prepared.index is not None:
        code = np.where(code >= 0, code, _through_index(ids, prepared))
    elif (code < 0).any():
        code = np.where(code >= 0, code, _without_extension(ids, known))
    return np.where(code >= 0, code, len(known) + np.arange(len(ids)))


def _through_index(ids: Any, prepared: Prepared) -> NDArray[np.int64]:
    """Two ids that the index resolves to one document are one document."""
    of_row = np.full(len(prepared.index) + 1, -1, np.int64)
    rows = prepared.document_rows
    of_row[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return of_row[np.asarray(prepared.index.find(ids), np.int64)]


def _without_extension(ids: Any, known: Any) -> NDArray[np.int64]:
    """Compare ids after dropping a file extension, where that says something new and is unambiguous."""
    ids, known = _strings(ids), _strings(known)
    stems, known_stems = (pc.replace_substring_regex(a, EXTENSION, "") for a in (ids, known))
    if pc.all(pc.equal(stems, ids)).as_py() is not False and pc.all(pc.equal(known_stems, known)).as_py() is not False:
        return np.full(len(ids), -1, np.int64)
    code = _index_in(stems, known_stems)
    exact = _index_in(ids, known)
    counts = np.bincount(_index_in(known_stems, known_stems), minlength=len(known))
    unsure = np.flatnonzero((code >= 0) & (exact < 0) & (counts[np.maximum(code, 0)] > 1))
    if len(unsure):
        name = ids[int(unsure[0])].as_py()
        raise InputError(
            f"document {name!r} of the run may be any of several documents of the gold that differ in their extension",
            remedy="write document ids in the run as the gold writes them",
        )
    return code


def _strings(ids: Any) -> Any:
    return ids if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type) else pc.cast(ids, pa.string())


def _index_in(ids: Any, known: Any) -> NDArray[np.int64]:
    if ids.type != known.type:
        ids, known = pc.cast(ids, pa.large_string()), pc.cast(known, pa.large_string())
    found: NDArray[np.int32] = pc.fill_null(pc.index_in(ids, value_set=known), -1).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)
