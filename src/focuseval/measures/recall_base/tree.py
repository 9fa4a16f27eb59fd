"""Element paths as a tree, without an index.

Every step of a path ends in ``]``, so the plain order of the strings puts an element before its descendants and its
descendants in one unbroken block: all strings that begin with ``/a[1]/`` follow ``/a[1]`` at once. (It is not the
order of the text, ``sec[10]`` stands before ``sec[2]``, but ancestry is all that recall bases need.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

_PARENT = r"/[^/]*$"
_UNNUMBERED = r"([^\]/])(/|$)"


@dataclass(frozen=True, eq=False)
class PathTree:
    """Distinct paths and all their ancestors, sorted; a path's *code* is its place here."""

    path: pa.Array
    depth: NDArray[np.int64]
    """Steps of the path, 1 for a root."""
    last: NDArray[np.int64]
    """One past the code of the path's last descendant."""

    def __len__(self) -> int:
        """Return the number of paths."""
        return len(self.path)

    def find(self, paths: Any) -> NDArray[np.int64]:
        """Return the code of every path of an Arrow string or dictionary array, −1 where there is none.

        A step without its ``[n]`` means ``[1]``.

        >>> import pyarrow as pa
        >>> path_tree(pa.array(["/a[1]/b[2]"])).find(pa.array(["/a[1]", "/a/b[2]", "/c[1]", None]))
        array([ 0,  1, -1, -1])
        """
        import pyarrow as pa  # noqa: PLC0415  heavy, and not every gold has elements
        import pyarrow.compute as pc  # noqa: PLC0415  as above

        if isinstance(paths, pa.ChunkedArray):
            paths = paths.unify_dictionaries().combine_chunks() if paths.num_chunks != 1 else paths.chunk(0)
        if not isinstance(paths, pa.DictionaryArray):
            paths = paths.dictionary_encode()  # a run says the same few paths again and again
        found = pc.index_in(numbered(paths.dictionary), value_set=self.path).fill_null(-1)
        places = paths.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
        return np.asarray(np.append(np.asarray(found, np.int64), -1)[places], np.int64)

    def tagged(self, tags: Iterable[str]) -> NDArray[np.bool_]:
        """Return which elements bear one of the tag names.

        >>> import pyarrow as pa
        >>> path_tree(pa.array(["/a[1]/weblink[2]/b[1]"])).tagged(["weblink"])
        array([False,  True, False])
        """
        import pyarrow.compute as pc  # noqa: PLC0415  as above

        names = "|".join(re.escape(tag) for tag in tags)
        if not names:
            return np.zeros(len(self), np.bool_)
        return np.asarray(pc.match_substring_regex(self.path, rf"/(?:{names})\[\d+\]$"))


def numbered(paths: Any) -> Any:
    """Return the paths as large strings, every step with its ``[n]``."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and not every gold has elements
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    strings = paths.cast(pa.large_string())
    if pc.any(pc.match_substring_regex(strings, _UNNUMBERED)).as_py():
        return pc.replace_substring_regex(strings, _UNNUMBERED, r"\1[1]\2")
    return strings


def path_tree(paths: Any) -> PathTree:
    """Return the tree of the given paths and all their ancestors."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and not every gold has elements
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    known = newest = pc.unique(numbered(paths).drop_null())
    while len(newest):
        parents = pc.unique(pc.replace_substring_regex(newest, _PARENT, ""))
        fresh = pc.and_(pc.greater(pc.utf8_length(parents), 0), pc.invert(pc.is_in(parents, known)))
        newest = parents.filter(fresh)
        known = pa.concat_arrays([known, newest])
    path = known.take(pc.sort_indices(known))
    depth = np.asarray(pc.count_substring(path, "/"), np.int64)
    return PathTree(path, depth, _subtree_ends(depth))


def _subtree_ends(depth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each subtree ends: at the next node that is not deeper. Nodes stand in pre-order, ancestors included."""
    last = np.full(len(depth), len(depth), np.int64)
    for level in range(1, int(depth.max(initial=0)) + 1):
        shallow = np.flatnonzero(depth <= level)
        here = depth[shallow] == level
        following = np.append(shallow[1:], len(depth))
        last[shallow[here]] = following[here]
    return last
