"""Pages of a PDF: which page a code point stands on, the boxes of a span, the characters in a box.

A block of an index that holds PDFs has four columns more: ``pages``, ``lines`` and ``steps``, which `collection.pdf`
describes, and ``original``, the file itself, of which pictures are made and into which annotations are written;
``original=drop`` leaves it out. They are mapped into memory with the rest. Boxes are (left, top, right, bottom) in
points of the page as it is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.block import CODEC, Block, lists
from focuseval.data.spans import spread
from focuseval.engine.lazy import cached_property
from focuseval.errors import CollectionError

PAGE = {"start": "i4", "end": "i4", "width": "f4", "height": "f4", "rotation": "i2"}
"""Columns of pages: where the text starts and ends, width and height in points, rotation in degrees."""
LINE = {"start": "i4", "end": "i4", "direction": "i1", "x0": "f4", "y0": "f4", "x1": "f4", "y1": "f4"}
"""Columns of lines: start and end in the text; direction, 0 to the right, 1 down, 2 to the left, 3 up; box."""


def with_pages(block: Block, laid: Sequence[Pages | None]) -> Block:
    """Add to a block where the characters of its PDFs stand; documents of other kinds have no pages."""
    if not any(laid):
        return block
    batch = block.batch
    for name, kinds in (("page", PAGE), ("line", LINE)):
        rows = [getattr(one, name, {}) for one in laid]
        columns = {
            key: np.concatenate([row.get(key, np.zeros(0, kind)) for row in rows]) for key, kind in kinds.items()
        }
        bounds = np.append(0, np.cumsum([len(row.get("start", ())) for row in rows]))
        batch = batch.append_column(f"{name}s", lists(bounds, columns, kinds))
    steps = [None if one is None else CODEC.compress(one.steps.tobytes(), asbytes=True) for one in laid]
    batch = batch.append_column("steps", pa.array(steps, pa.large_binary()))
    original = pa.array([None if one is None else one.original for one in laid], pa.large_binary())
    return Block(batch.append_column("original", original), block.tags)


@dataclass(frozen=True, eq=False)
class Pages:
    """The pages of one document; pages are counted from 1."""

    page: dict[str, NDArray[Any]]
    line: dict[str, NDArray[Any]]
    steps: Any
    """For every code point of the text, its share of its line's length, a byte; 0 for what stands in no line. Those of
    an index are compressed."""
    original: Any  # the file: its bytes, or those of an index as Arrow has them; None where it was not kept
    _seen: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.page["start"])

    @cached_property
    def _steps(self) -> NDArray[np.uint8]:
        if isinstance(self.steps, np.ndarray):
            return self.steps
        return np.frombuffer(CODEC.decompress(self.steps.as_buffer(), int(self.page["end"][-1])), np.uint8)

    def file(self, name: str) -> bytes:
        """Return the PDF itself."""
        if self.original is None:
            what = "pictures and annotations need the PDF, and the index was made without it (original=drop)"
            raise CollectionError(what, at=name, remedy="index the collection again without that option")
        data: bytes = self.original if isinstance(self.original, bytes) else self.original.as_py()
        return data

    def of(self, position: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """Return the page on which a code point stands; what stands between two is on the later one."""
        return np.minimum(np.searchsorted(self.page["end"], position, "right") + 1, len(self))

    def span(self, page: int) -> tuple[int, int]:
        """Return where the text of a page starts and ends."""
        return int(self.page["start"][page - 1]), int(self.page["end"][page - 1])

    def size(self, page: int) -> tuple[float, float]:
        """Return width and height of a page as it is seen, in points."""
        return float(self.page["width"][page - 1]), float(self.page["height"][page - 1])

    def boxes(self, start: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the boxes of a span, one for each line that it touches, wide gaps apart, and their pages."""
        rows = self._lines(start, end)
        first, last = np.maximum(self.line["start"][rows], start), np.minimum(self.line["end"][rows], end)
        return self.of(first.astype(np.int64)), self._parts(rows, first, last)

    def _lines(self, start: int, end: int) -> NDArray[np.int64]:
        """Return the lines that a span touches."""
        line = self.line
        return np.arange(np.searchsorted(line["end"], start, "right"), np.searchsorted(line["start"], end, "left"))

    def _parts(self, rows: NDArray[np.int64], start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.float64]:
        """Return the boxes of parts of lines, from a code point to another."""
        first, last = self.line["start"][rows], self.line["end"][rows]
        base = int(first.min()) if len(rows) else 0
        upto = np.append(0, np.cumsum(self._steps[base : int(last.max(initial=0))], dtype=np.int64))
        zero, most = upto[first - base], upto[last - base]
        low, high = ((upto[place - base] - zero) / np.maximum(most - zero, 1) for place in (start, end))
        x0, y0, x1, y1 = (self.line[name][rows].astype(np.float64) for name in ("x0", "y0", "x1", "y1"))
        way, wide, tall = self.line["direction"][rows], x1 - x0, y1 - y0
        left = np.choose(way, (x0 + low * wide, x0, x1 - high * wide, x0))
        top = np.choose(way, (y0, y0 + low * tall, y0, y1 - high * tall))
        right = np.choose(way, (x0 + high * wide, x1, x1 - low * wide, x1))
        bottom = np.choose(way, (y1, y0 + high * tall, y1, y1 - low * tall))
        return np.stack([left, top, right, bottom], axis=1)

    def characters(self, page: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the positions of all characters of a page that stand in a line, ascending, and their boxes."""
        if page not in self._seen:
            rows = self._lines(*self.span(page))
            count = (self.line["end"][rows] - self.line["start"][rows]).astype(np.int64)
            position = spread(self.line["start"][rows].astype(np.int64), count)
            self._seen[page] = position, self._parts(np.repeat(rows, count), position, position + 1)
        return self._seen[page]

    def words(self, page: int, text: str) -> list[tuple[int, int, float, float, float, float, int]]:
        """Return the words of a page's lines, each with the space behind it: start, end, box, and direction."""
        position, _ = self.characters(page)
        if not len(position):
            return []
        row = np.searchsorted(self.line["start"], position, "right") - 1
        blank = np.array([text[place].isspace() for place in position.tolist()])
        fresh = np.append(True, (np.diff(row) > 0) | (blank[:-1] & ~blank[1:]))
        first = np.flatnonzero(fresh)
        rows, start = row[first], position[first]
        end = position[np.append(first[1:], len(position)) - 1] + 1
        boxes, ways = np.round(self._parts(rows, start, end), 2).tolist(), self.line["direction"][rows].tolist()
        return [(a, b, *box, way) for a, b, box, way in zip(start.tolist(), end.tolist(), boxes, ways, strict=True)]

    def covered(self, places: Sequence[tuple[int, Sequence[float] | None]]) -> list[tuple[int, int]]:
        """Return the spans of all characters in some boxes; a page without a box is meant as a whole.

        Characters belong to one span if none that stands between them is left out.
        """
        if not places:
            return []
        numbers = [page for page, _ in places]
        every = {page: self.characters(page) for page in range(min(numbers), max(numbers) + 1)}
        inside = {page: np.zeros(len(position), np.bool_) for page, (position, _) in every.items()}
        for page, box in places:
            boxes = every[page][1]
            x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
            left, top, right, bottom = (-np.inf, -np.inf, np.inf, np.inf) if box is None else box
            inside[page] |= (x >= left) & (x <= right) & (y >= top) & (y <= bottom)
        position = np.concatenate([position for position, _ in every.values()])
        edge = np.diff(np.concatenate([[False], *inside.values(), [False]]).astype(np.int8))
        first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
        return list(zip(position[first].tolist(), (position[last] + 1).tolist(), strict=True))


def pages_of(block: Block, document: int) -> Pages | None:
    """Return the pages of a block's document; None where it is no PDF."""
    batch = block.batch
    if "pages" not in batch.schema.names or not batch.column("pages")[document].values:
        return None

    def part(name: str) -> dict[str, NDArray[Any]]:
        column = batch.column(name)
        low, high = np.asarray(column.offsets)[document : document + 2].tolist()
        values = column.values.slice(low, high - low)
        return {field.name: values.field(field.name).to_numpy() for field in values.type}

    original = batch.column("original")[document]
    return Pages(part("pages"), part("lines"), batch.column("steps")[document], original if original.is_valid else None)
