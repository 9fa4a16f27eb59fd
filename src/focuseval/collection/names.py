"""Match the document ids that runs and judgements use with those of an index.

An id matches exactly; else without a file's extension on either side; else as the last components of a longer id
(``r7023`` for ``co/2000/r7023``), if there is only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXTENSIONS = (".xml", ".txt", ".md")
"""Files that are documents; the extension is not part of the id."""

_EXTENSION = r"(?i)\.(?:xml|txt|md)$"


def match_names(ids: Any, wanted: Any) -> NDArray[np.int32]:
    """Return the row of every wanted id in `ids`, −1 where it is unknown.

    >>> match_names(pa.array(["co/r1", "co/r2"]), pa.array(["co/r2", "co/r1.xml", "r2", "r3"]))
    array([ 1,  0,  1, -1], dtype=int32)
    """
    rows = _rows(ids, wanted)
    for shorten in (_without_extension, _last_component):
        open_ = np.flatnonzero(rows < 0)
        if not len(open_):
            break
        rows[open_] = shorten(ids, wanted.take(pa.array(open_)))
    return rows


def _rows(ids: Any, wanted: Any) -> NDArray[np.int32]:
    return np.array(pc.index_in(wanted, ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int32)


def _without_extension(ids: Any, wanted: Any) -> NDArray[np.int32]:
    bare = pc.replace_substring_regex(ids, _EXTENSION, "")
    return _unique_rows(ids, bare, pc.replace_substring_regex(wanted, _EXTENSION, ""))


def _last_component(ids: Any, wanted: Any) -> NDArray[np.int32]:
    """Match by the last components, as many as each wanted id has."""
    wanted = pc.replace_substring_regex(wanted, _EXTENSION, "")
    bare = pc.replace_substring_regex(ids, _EXTENSION, "")
    slashes = pc.count_substring(wanted, "/").to_numpy(zero_copy_only=False)
    rows = np.full(len(wanted), -1, np.int32)
    for count in np.unique(slashes):
        here = np.flatnonzero(slashes == count)
        tail = pc.extract_regex(bare, r"/(?P<tail>[^/]*" + r"/[^/]*" * int(count) + ")$").field(0)
        rows[here] = _unique_rows(ids, tail, wanted.take(pa.array(here)))
    return rows


def _unique_rows(ids: Any, names: Any, wanted: Any) -> NDArray[np.int32]:
    """Match shortened names; one that several documents share is refused when it is asked for."""
    rows = _rows(names, wanted)
    found = np.flatnonzero(rows >= 0)
    if len(found):
        code = names.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
        often = np.bincount(code[code >= 0], minlength=1)
        shared = found[often[code[rows[found]]] > 1]
        if len(shared):
            name = wanted[int(shared[0])].as_py()
            both = pc.filter(ids, pc.equal(names, name))[:2].to_pylist()
            what = f"document id {name!r} is ambiguous: it could be {both[0]!r} or {both[1]!r}"
            raise CollectionError(what, remedy="write the id in full")
    return rows
