"""The one rule by which document ids match: of runs and golds with a collection, and of runs with a gold.

Every id is decided by itself: it matches exactly, else without a file's extension on either side. In a collection,
whose ids may have folders, it also matches as the last components of a longer id (``r7023`` for ``co/2000/r7023``);
and where no id at all is known, one folder in front of all of them is left out, as loaders write it (``docs/a.md`` for
``a``). An id that fits several documents is refused. Shortened ids are worked out once and kept.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXTENSION = (
    r"(?i)\.(?:xml|nxml|x?html?|txt|text|md|markdown|mdx|rst|adoc|org|tex|pdf|rtf|odt|docx?|pptx?|xlsx?|epub"
    r"|jsonl?|csv|tsv|ya?ml)$"
)
"""What an id may have or lack: the extension of a document's file. Not any letters behind a dot: ``numpy.fft`` and
``numpy.ma`` are two documents, and neither is ``numpy``."""


@dataclass(frozen=True, eq=False)
class _Short:
    """Ids in a shortened form: the distinct ones, and the first and last document of each."""

    names: Any
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class Names:
    """The ids of a collection, or of a gold.

    >>> Names(pa.array(["co/r1", "co/r2"])).match(pa.array(["co/r2", "co/r1.xml", "r2", "r3"]))
    array([ 1,  0,  1, -1], dtype=int32)
    >>> Names(pa.array(["co/r1", "co/r2"]), folders=False).match(pa.array(["co/r2.xml", "r2"]))
    array([ 1, -1], dtype=int32)
    """

    ids: Any
    folders: bool = True
    """Whether folders may be left out; a gold's ids are no paths."""
    _shortened: dict[int | None, _Short] = field(default_factory=dict)

    def match(self, wanted: Any) -> NDArray[np.int32]:
        """Return the row of every wanted id, −1 where it is unknown; an ambiguous one is refused."""
        rows = _places(wanted, self.ids)
        open_ = np.flatnonzero(rows < 0)
        if not len(open_):
            return rows
        bare = pc.replace_substring_regex(wanted.take(pa.array(open_)), EXTENSION, "")
        rows[open_] = self._match_short(bare, None)
        if not self.folders:
            return rows
        slashes = pc.count_substring(bare, "/").to_numpy(zero_copy_only=False)
        for count in np.unique(slashes[rows[open_] < 0]):
            here = np.flatnonzero((rows[open_] < 0) & (slashes == count))
            rows[open_[here]] = self._match_short(bare.take(pa.array(here)), int(count))
        return self._match_below(bare) if (rows < 0).all() else rows

    def _match_below(self, wanted: Any) -> NDArray[np.int32]:
        """Match ids without a folder that all of them are in: the highest one below which any is known.

        One folder for all, so that two different ids never become one.

        >>> Names(pa.array(["a", "b"])).match(pa.array(["./docs/a.md", "./docs/c.md"]))
        array([ 0, -1], dtype=int32)
        >>> Names(pa.array(["a", "b"])).match(pa.array(["en/a", "fr/a"]))
        array([-1, -1], dtype=int32)
        """
        names = pc.replace_substring(wanted, "\\", "/")
        ends = pc.min_max(names).as_py()
        folders = posixpath.commonprefix([ends["min"], ends["max"]]).split("/")[:-1]
        for above in range(1, len(folders) + 1):
            rows = self._match_short(pc.utf8_slice_codeunits(names, len("/".join(folders[:above])) + 1), None)
            if (rows >= 0).any():
                return rows
        return np.full(len(names), -1, np.int32)

    def _match_short(self, wanted: Any, slashes: int | None) -> NDArray[np.int32]:
        """Match with the ids cut down to as many components, or whole if `slashes` is None."""
        if slashes not in self._shortened:
            self._shortened[slashes] = self._shorten(slashes)
        short = self._shortened[slashes]
        place = _places(wanted, short.names)
        shared = np.flatnonzero((place >= 0) & (short.first[place] < short.last[place]))
        if len(shared):
            self._refuse(wanted[int(shared[0])].as_py(), short, place[shared[0]])
        return np.where(place >= 0, short.first[place], -1).astype(np.int32)

    def _shorten(self, slashes: int | None) -> _Short:
        names = pc.replace_substring_regex(self.ids, EXTENSION, "")
        rows = np.arange(len(names))
        if slashes is not None:
            tails = pc.extract_regex(names, "/(?P<tail>[^/]*" + "/[^/]*" * slashes + ")$")
            rows = np.flatnonzero(tails.is_valid().to_numpy(zero_copy_only=False))
            names = tails.field(0)
        encoded = names.take(pa.array(rows)).dictionary_encode()
        code = encoded.indices.to_numpy()
        first, last = np.full((2, len(encoded.dictionary) + 1), -1, np.int64)
        first[code[::-1]] = rows[::-1]
        last[code] = rows
        return _Short(encoded.dictionary, first, last)

    def _refuse(self, name: str, short: _Short, place: int) -> None:
        """Name two of the documents that a shortened id could mean."""
        both = self.ids.take(pa.array([short.first[place], short.last[place]])).to_pylist()
        what = f"document id {name!r} is ambiguous: it could be {both[0]!r} or {both[1]!r}"
        raise CollectionError(what, remedy="write the id in full")


def _places(wanted: Any, values: Any) -> NDArray[np.int32]:
    return np.array(pc.index_in(wanted, values).fill_null(-1).to_numpy(zero_copy_only=False), np.int32)
