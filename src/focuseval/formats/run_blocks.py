"""A large run as JSON lines, a block of topics at a time, so that its size does not matter.

Blocks are cut between topics. A run whose topics do not stand together comes out with a topic in two blocks: the caller
must notice, and read the file at once.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import Place
from focuseval.formats import run_jsonl
from focuseval.formats.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from focuseval.run import Run

BLOCK = 1 << 24
"""Bytes that are parsed at once: about 200,000 results."""


@dataclass(frozen=True)
class Part(Source):
    """Some lines of a file, which know where in it they stand."""

    before: int = 0
    """Lines of the file before these."""

    def at(self, line: int | None = None, column: int | None = None) -> Place:
        """Return a place in the whole file."""
        return Place(self.name, None if line is None else line + self.before, column)


def mapped(path: Path) -> Source:
    """Return a file whose pages are read when they are needed, and which nobody hashes."""
    with path.open("rb") as file:
        return Source(str(path), mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), lambda: "")


def blocks(source: Source, size: int = BLOCK) -> Iterator[Run]:
    """Yield the run's topics in file order, whole topics in each block; lines are those of the file."""
    start, before, whole, asked = 0, 0, len(source.data), size
    while start < whole:
        end = _line_end(source, min(start + asked, whole))
        part = Part(source.name, source.data[start:end], lambda: "", before)
        run = run_jsonl.read(part)
        line = run.line if run.line is not None else np.arange(1, len(run) + 1)
        cut = _last_topic(run, line) if end < whole else None
        if cut == line.min(initial=1):
            asked *= 2  # one topic fills the block
            continue
        kept = run if cut is None else _upto(run, np.flatnonzero(line < cut))
        yield replace(kept, line=(line if cut is None else line[line < cut]) + before)
        used = end - start if cut is None else _offset(part, int(cut))
        before += part.data[:used].count(b"\n")
        start, asked = start + used, size
        source.release(start)


def _line_end(source: Source, near: int) -> int:
    """Return the end of the line that holds the byte before `near`."""
    if near == len(source.data):
        return near
    found = source.data.find(b"\n", near - 1)
    return len(source.data) if found < 0 else found + 1


def _last_topic(run: Run, line: NDArray[np.int64]) -> int:
    """Return the first line of the topic that stands last."""
    last = run.topic[int(np.argmax(line))]
    return int(line[run.topic == last].min())


def _upto(run: Run, rows: NDArray[np.int64]) -> Run:
    """Return some rows of the run, and their topics only."""
    kept = run.take(rows)
    codes, topic = np.unique(kept.topic, return_inverse=True)
    return replace(kept, topics=tuple(run.topics[code] for code in codes), topic=topic.reshape(-1).astype(np.int32))


def _offset(part: Part, line: int) -> int:
    """Return where a line begins, in bytes."""
    ends = np.flatnonzero(np.frombuffer(part.data, np.uint8) == ord("\n"))
    return int(ends[line - 2]) + 1
