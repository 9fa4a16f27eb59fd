"""Large run files, whose first blocks are read while nobody has asked for them yet.

Telling whether a file is large loads nothing, so that small runs do not wait for what they do not need.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGE = 1 << 26
"""Bytes from which on a run is read in blocks."""

STREAMED = ("run-jsonl", "trec-run")
"""Formats whose lines each name their topic."""


def streamed_format(source: Any, run_format: str | None = None) -> str | None:
    """Return the format of a large file that may be streamed, else None; such a run names no task."""
    if not isinstance(source, (str, PathLike)):
        return None
    path = Path(source)
    if not path.is_file() or path.stat().st_size < LARGE:
        return None
    from focuseval.formats.catalogue import find_format, sniffed  # noqa: PLC0415  a run in memory needs no reader

    with path.open("rb") as file:
        known = find_format(run_format, "run") if run_format else sniffed(file.read(1 << 16), "run")
    return known.name if known is not None and known.name in STREAMED else None


def ahead(sources: Sequence[Any], run_format: str | None = None) -> list[Any]:
    """Return runs, the first of them being read already if it is a large file: while a gold is read, a core is idle."""
    known = streamed_format(sources[0], run_format) if sources else None
    if known is None:
        return list(sources)
    from focuseval.formats.run_blocks import LargeRun  # noqa: PLC0415  only large runs need it

    first = sources[0] if isinstance(sources[0], LargeRun) else LargeRun(Path(sources[0]), known)
    return [first, *sources[1:]]
