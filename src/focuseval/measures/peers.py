"""Other chunk evaluators: their own numbers, beside ours under ``--compat``, and what makes the two differ.

The numbers are no measures of ours, and stand in no list of them: one exceeds 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures import chunk_evaluators as theirs
from focuseval.measures.ceiling import ceiling
from focuseval.measures.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Reason:
    """Something in the data that makes a peer's number differ from ours."""

    said: str
    holds: Callable[[Matched, int | None], Flags]
    """For every topic, whether it is so in the first results."""


@dataclass(frozen=True)
class Twin:
    """A measure of ours, without its cut-off, and the peer's number that means the same."""

    ours: str
    theirs: Measure
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Peer:
    """Another tool: the numbers that it prints, and those of ours to ask for when none is named."""

    name: str
    twins: tuple[Twin, ...]
    defaults: tuple[str, ...]


def _repeated(m: Matched, at: int | None) -> Flags:
    """Return topics in which retrieved chunks share text."""
    rows = np.flatnonzero(m.rank <= (at or len(m)))
    return np.asarray(np.bincount(m.topic[rows], (m.size - m.new_size)[rows], m.topics) > 0)


def _overlapping(m: Matched, at: int | None) -> Flags:
    """Return topics in which references share text."""
    return np.asarray(theirs.texts(m, at).references > m.prepared.trel_of_topic)


def _touching(m: Matched, at: int | None) -> Flags:
    """Return topics in which a chunk touches a reference without holding any of it."""
    del at
    return np.asarray(theirs.chroma_omega(m) != ceiling(m, "IoU"))


_CHUNKS = Reason("chunks overlap, and it counts the text that they share once for each of them", _repeated)
_REFERENCES = Reason("references overlap, and it counts the text that they share once for each of them", _overlapping)
_TOUCHING = Reason("a chunk touches a reference without holding any of it, and it counts as holding", _touching)


def _twin(ours: str, name: str, compute: Callable[..., NDArray[np.float64]], *reasons: Reason) -> Twin:
    tool = name.partition(":")[0]
    bounds = (0.0, float("inf") if tool == "legalbenchrag" else 1.0)
    at = () if ours.startswith("ceiling") else ("rank",)
    return Twin(ours, Measure(name, compute, f"{name}, as {tool} prints it.", tool, at=at, bounds=bounds), reasons)


PEERS = (
    Peer(
        "legalbenchrag",
        (
            _twin("spanR", "legalbenchrag:recall", theirs.legalbench_recall, _CHUNKS, _REFERENCES),
            _twin("spanP", "legalbenchrag:precision", theirs.legalbench_precision, _CHUNKS, _REFERENCES),
        ),
        tuple(f"{name}@{k}" for k in (1, 2, 4, 8, 16, 32, 64) for name in ("spanR", "spanP")),
    ),
    Peer(
        "chroma",
        (
            _twin("spanR", "chroma:recall", theirs.chroma_recall, _REFERENCES),
            _twin("spanP", "chroma:precision", theirs.chroma_precision, _CHUNKS),
            _twin("IoU", "chroma:iou", theirs.chroma_iou, _CHUNKS, _REFERENCES),
            _twin("ceiling(IoU)", "chroma:precision_omega", theirs.chroma_omega, _TOUCHING),
        ),
        ("spanR@5", "spanP@5", "IoU@5", "ceiling(IoU)"),
    ),
)
"""What ``--compat`` knows besides the official INEX tool; the defaults are what their papers and code report."""


def peer_named(name: str | None) -> Peer | None:
    """Return the peer of a name; None for none, and for the official INEX tool, which is a set of policies."""
    return next((peer for peer in PEERS if peer.name == name), None)
