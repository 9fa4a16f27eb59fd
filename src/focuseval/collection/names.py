"""The names that runs and golds give to documents and elements: ids and paths, and what they stand for.

*Ids* match by one rule, of runs and golds with a collection and of runs with a gold. Every id is decided by itself: it
matches exactly, else without a file's extension on either side. In a collection, whose ids may have folders, it also
matches as the last components of a longer id (``r7023`` for ``co/2000/r7023``); and where no id at all is known, one
folder in front of all of them is left out, as loaders write it (``docs/a.md`` for ``a``). An id that fits several
documents is refused. Shortened ids are worked out once and kept.

*Paths* are such as ``/article[1]/bdy[1]/sec[2]``. A column of paths has few different steps, so each is parsed once;
the rest is integer work. Inside one block a path is followed step by step from the root, for all queries at once. The
children of an element stand sorted by tag, so every step is a binary search among them; nothing is hashed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.engine.native import encoded
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.block import Block

    Integers = NDArray[np.int64]

_STEP = re.compile(r"\s*([^\[\]/\s@()]+)\s*(?:\[\s*([0-9]{1,9})\s*\])?\s*")
_POINTER = r"^(?P<path>.*?)(?P<text>/text\(\)(?:\[(?P<n>[0-9]{1,9})\])?)?(?:\.(?P<offset>[0-9]{1,9}))?$"

EXTENSION = (
    r"(?i)\.(?:xml|nxml|x?html?|txt|text|md|markdown|mdx|rst|adoc|org|ipynb|tex|pdf|rtf|odt|docx?|pptx?|xlsx?|epub"
    r"|jsonl?|csv|tsv|ya?ml)$"
)
"""What an id may have or lack: the extension of a document's file. Not any letters behind a dot: ``numpy.fft`` and
``numpy.ma`` are two documents, and neither is ``numpy``."""


@dataclass(frozen=True)
class Names:
    """The ids of a collection, or of a gold.

    >>> Names(pa.array(["co/r1", "co/r2"])).match(pa.array(["co/r2", "co/r1.xml", "r2", "r3"]))
    array([ 1,  0,  1, -1], dtype=int32)
    >>> Names(pa.array(["co/r1", "co/r2"]), folders=False).match(pa.array(["co/r2.xml", "r2"]))
    array([ 1, -1], dtype=int32)
    """

    ids: Any
    folders: bool = True  # whether folders may be left out; a gold's ids are no paths
    _shortened: dict[int | None, tuple[Any, Integers, Integers]] = field(default_factory=dict)
    """Ids cut down to so many slashes: the distinct ones, and the first and last document of each."""

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
            names = pc.replace_substring_regex(self.ids, EXTENSION, "")
            rows = np.arange(len(names))
            if slashes is not None:
                tails = pc.extract_regex(names, "/(?P<tail>[^/]*" + "/[^/]*" * slashes + ")$")
                rows = np.flatnonzero(tails.is_valid().to_numpy(zero_copy_only=False))
                names = tails.field(0)
            column = names.take(pa.array(rows)).dictionary_encode()
            code = column.indices.to_numpy()
            first, last = np.full((2, len(column.dictionary) + 1), -1, np.int64)
            first[code[::-1]], last[code] = rows[::-1], rows
            self._shortened[slashes] = column.dictionary, first, last
        distinct, first, last = self._shortened[slashes]
        place = _places(wanted, distinct)
        shared = np.flatnonzero((place >= 0) & (first[place] < last[place]))
        if len(shared):
            one, at = wanted[int(shared[0])].as_py(), place[shared[0]]
            both = self.ids.take(pa.array([first[at], last[at]])).to_pylist()
            what = f"document id {one!r} is ambiguous: it could be {both[0]!r} or {both[1]!r}"
            raise CollectionError(what, remedy="write the id in full")
        return np.where(place >= 0, first[place], -1).astype(np.int32)


def _places(wanted: Any, values: Any) -> NDArray[np.int32]:
    return np.array(pc.index_in(wanted, values).fill_null(-1).to_numpy(zero_copy_only=False), np.int32)


@dataclass(frozen=True, eq=False)
class Steps:
    """The distinct paths of a column as steps: ``tags[tag]`` and rank `n` of each; tag −1 where it is no step."""

    path: Integers  # for every row of the column, its distinct path; −1 for null
    first: Integers  # where each distinct path's steps begin
    depth: Integers  # how many steps it has
    tag: Integers
    n: Integers
    tags: tuple[str, ...]


def parse_paths(paths: Any) -> Steps:
    """Understand a column of paths; a step without ``[n]`` means the first of its name.

    >>> steps = parse_paths(pa.array(["/a[1]/b[2]", "/a"]))
    >>> steps.depth.tolist(), [steps.tags[t] for t in steps.tag], steps.n.tolist()
    ([2, 1], ['a', 'b', 'a'], [1, 2, 1])
    """
    column = encoded(paths)
    distinct = column.dictionary
    lists = pc.split_pattern(pc.utf8_ltrim(pc.utf8_trim_whitespace(distinct), "/"), "/")
    bounds = lists.offsets.to_numpy().astype(np.int64)
    words = lists.flatten().dictionary_encode()
    found = map(_STEP.fullmatch, words.dictionary.to_pylist())
    known = [(step[1], int(step[2] or 1)) if step else ("", 0) for step in found]
    names = tuple(dict.fromkeys(name for name, _ in known if name))
    code = {name: i for i, name in enumerate(names)} | {"": -1}
    tag, n = np.array([(code[name], n) for name, n in known], np.int64).reshape(-1, 2)[words.indices.to_numpy()].T
    path = column.indices.fill_null(-1).to_numpy().astype(np.int64)
    return Steps(path, bounds[:-1], np.diff(bounds), tag, n, names)


def split_pointers(pointers: Any) -> tuple[Any, Integers, Integers]:
    """Split XPointers into element paths, ``n`` of ``text()[n]`` (0: the element itself) and the offset.

    >>> paths, n, offset = split_pointers(pa.array(["/a[1]/p[2]/text()[3].5", "/a[1]", "/a[1]/text().2"]))
    >>> paths.to_pylist(), n.tolist(), offset.tolist()
    (['/a[1]/p[2]', '/a[1]', '/a[1]'], [3, 0, 1], [5, 0, 2])
    """
    column = encoded(pointers)
    parts = pc.extract_regex(column.dictionary.cast(pa.string()), _POINTER)
    path, text, n, offset = (parts.field(i) for i in range(4))
    n = pc.if_else(pc.equal(text, ""), "0", pc.if_else(pc.equal(n, ""), "1", n))
    offset = pc.if_else(pc.equal(offset, ""), "0", offset)
    numbers = (digits.cast(pa.int64()).take(column.indices).fill_null(-1) for digits in (n, offset))
    node, position = (np.asarray(column.to_numpy(zero_copy_only=False), np.int64) for column in numbers)
    return path.take(column.indices), node, position


def path_strings(
    rows: Integers, parent: Integers, tag: NDArray[np.integer], n: NDArray[np.integer], tags: Sequence[str]
) -> Any:
    """Return the paths of the elements in `rows`, every step with its ``[n]``.

    >>> path_strings(np.array([1]), np.array([-1, 0]), np.array([0, 1]), np.array([1, 3]), ["a", "b"]).to_pylist()
    ['/a[1]/b[3]']
    """
    steps: list[Any] = []
    at = np.asarray(rows, np.int64)
    while (alive := at >= 0).any():
        here = at[alive]
        pair = pa.array((tag[here].astype(np.int64) << 32) | n[here]).dictionary_encode()
        words = [f"/{tags[key >> 32]}[{key & 0xFFFFFFFF}]" for key in pair.dictionary.to_pylist()]
        slot = np.full(len(at), len(words), np.int64)
        slot[alive] = pair.indices.to_numpy()
        steps.append(pa.array([*words, ""], pa.string()).take(pa.array(slot)))
        at = np.where(alive, parent[np.maximum(at, 0)], -1)
    return pc.binary_join_element_wise(*reversed(steps), "") if steps else pa.array([], pa.string())


def find_elements(block: Block, document: Integers, path: Integers, steps: Steps) -> Integers:
    """Return the row (in the block) of the element at each (document, path), −1 where there is none."""
    local = pc.index_in(pa.array(steps.tags, pa.string()), pa.array(block.tags, pa.string()))
    code = np.append(local.fill_null(-1).to_numpy(zero_copy_only=False), -1).astype(np.int64)
    base = block.element_bounds[document]
    size = np.diff(block.element_bounds)[document]
    at = np.full(len(document), -1, np.int64)
    depth = np.where(path >= 0, steps.depth[path] if len(steps.depth) else 0, 0)
    alive = np.flatnonzero(depth > 0)
    for level in range(int(depth.max(initial=0))):
        alive = alive[depth[alive] > level]
        step = steps.first[path[alive]] + level
        at[alive] = _children(block, base[alive], size[alive], at[alive], tag=code[steps.tag[step]], n=steps.n[step])
        alive = alive[at[alive] >= 0]
    return np.where(at >= 0, at + base, -1)


def _children(
    block: Block, base: Integers, size: Integers, parent: Integers, *, tag: Integers, n: Integers
) -> Integers:
    """Return, counted from its document's first element, the n-th child with a tag; parent −1 asks for the root."""
    child, first_child, tags = (block.element(name) for name in ("child", "first_child", "tag"))
    root = parent < 0
    low = np.where(root, 0, first_child[base + np.maximum(parent, 0)])
    after = np.minimum(parent + 1, size - 1)
    high = np.where(root, 1, np.where(parent + 1 < size, first_child[base + after], size))
    place = _lower_bound(lambda at, which: tags[base[which] + child[base[which] + at]] < tag[which], low, high)
    place += n - 1
    found = (tag >= 0) & (n >= 1) & (place < high)
    place = np.where(found, place, 0)
    element = child[base + place].astype(np.int64)
    return np.where(found & (tags[base + element] == tag), element, -1)


def _lower_bound(less: Callable[[Integers, Integers], NDArray[np.bool_]], low: Integers, high: Integers) -> Integers:
    """Return the first place in ``low … high`` of every query that is not `less`; one round halves all ranges."""
    low, high = low.astype(np.int64), high.astype(np.int64)
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) >> 1
        smaller = less(middle, open_)
        low[open_[smaller]] = middle[smaller] + 1
        high[open_[~smaller]] = middle[~smaller]
        open_ = open_[low[open_] < high[open_]]
    return low


def find_nodes(block: Block, document: Integers, element: Integers, n: Integers, *, strip: bool) -> Integers:
    """Return each element's n-th text node (its row in the block, or −1); `strip` counts none of white space alone."""
    solid, first_node = block.node("solid"), block.element("first_node")
    base = block.node_bounds[document]
    low = base + first_node[element]
    last = block.element_bounds[document + 1] - 1
    after = first_node[np.minimum(element + 1, last)]
    high = np.where(element < last, base + after, block.node_bounds[document + 1])
    place = _lower_bound(lambda at, which: solid[at] < n[which], low, high) if strip else low + n - 1
    return np.where((n >= 1) & (place >= low) & (place < high), place, -1)
