"""Other chunk evaluators: their own numbers, beside ours under ``--compat``, and what makes the two differ.

Both LegalBench-RAG and chunking_evaluation add up lengths where they should unite text, so that one of them gives a
recall of 1.2. The formulas are theirs, for all topics at once; they are no measures of ours, and stand in no list of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from focuseval.data.spans import pack, union, unpack
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Measure
from focuseval.measures.spans import OF_TEXT, best_read, chunking_ceiling
from focuseval.measures.topicwise import Flags, Floats, Integers, count, count_by, once, ratio


class Texts(NamedTuple):
    """What both tools add up, for every topic: lengths with all repeats, and what chunks and references share."""

    chunks: Integers  # lengths of the retrieved chunks, repeated text counted each time
    references: Integers  # lengths of the gold's references, overlapping text counted each time
    shared: Integers  # common characters of every chunk with every reference, added up pair by pair
    united: Integers  # characters that are both in a chunk and in a reference, each once
    missed: Integers  # characters of every reference that no chunk holds, added up reference by reference


@once
def texts(m: Matched, at: int | None) -> Texts:
    """Return the sums for the first `at` results."""
    shown = m.rank <= (at or len(m))
    rows = np.flatnonzero(shown & (m.article < len(m.prepared.topic)))
    passages, article = m.prepared.gold.passages, m.prepared.article_of_passage
    here = np.flatnonzero((article >= 0) & (passages.start >= 0))
    group, start, end = article[here], passages.start[here], passages.end[here]  # not united
    topic = m.prepared.topic[group]
    seen = union(m.article[rows], m.start[rows], m.end[rows])
    inside = m.prepared.highlights.covered(seen.group, seen.start, seen.end)
    missed = end - start - seen.covered(group, start, end)
    begins, ends = np.sort(pack(group, start)), np.sort(pack(group, end))

    def before(position: Integers) -> Integers:
        """Add up what lies before a position of each reference in its article: how far behind its edges it is."""
        behind = []
        for keys in (begins, ends):  # what earlier articles add is the same for both: it cancels
            high = np.searchsorted(keys, pack(m.article[rows], position))
            behind.append(high * position - np.concatenate(([0], np.cumsum(unpack(keys)[1])))[high])
        return np.asarray(behind[0] - behind[1])

    return Texts(
        count(np.where(shown, m.size, 0), m.bounds),
        count_by(end - start, topic, m.topics),
        count_by(before(m.end[rows]) - before(m.start[rows]), m.topic[rows], m.topics),
        count_by(inside, m.prepared.topic[seen.group], m.topics),
        count_by(missed, topic, m.topics),
    )


def share(m: Matched, at: int | None = None, *, part: str, whole: tuple[str, ...]) -> Floats:
    """Return one of the sums over the sum of others."""
    found = texts(m, at)
    return ratio(getattr(found, part), np.sum([getattr(found, name) for name in whole], axis=0))


def chroma_omega(m: Matched) -> Floats:
    """Return IoU of all chunks that hold a reference or touch one."""
    return OF_TEXT["IoU"](best_read(m, near=1))


class Reason(NamedTuple):
    """Something in the data that makes a peer's number differ from ours."""

    said: str
    holds: Callable[[Matched, int | None], Flags]  # for every topic, whether it is so in the first results


class Twin(NamedTuple):
    """A measure of ours, without its cut-off, and the peer's number that means the same."""

    ours: str
    theirs: Measure
    reasons: tuple[Reason, ...]


class Peer(NamedTuple):
    """Another tool: the numbers that it prints, and those of ours to ask for when none is named."""

    name: str
    twins: tuple[Twin, ...]
    defaults: tuple[str, ...]


_CHUNKS = Reason(
    "chunks overlap, and it counts the text that they share once for each of them",
    lambda m, at: count_by(np.where(m.rank <= (at or len(m)), m.size - m.new_size, 0), m.topic, m.topics) > 0,
)
_REFERENCES = Reason(
    "references overlap, and it counts the text that they share once for each of them",
    lambda m, at: texts(m, at).references > m.prepared.trel_of_topic,
)
_TOUCHING = Reason(
    "a chunk touches a reference without holding any of it, and it counts as holding",
    lambda m, _: chroma_omega(m) != chunking_ceiling(m, "IoU"),
)


def _twin(ours: str, name: str, part: str, whole: tuple[str, ...], *reasons: Reason) -> Twin:
    """Return the peer's number: `part` over `whole` of `Texts`, or chroma's own where there is no such part."""
    tool, compute = name.partition(":")[0], partial(share, part=part, whole=whole) if part else chroma_omega
    bounds = (0.0, float("inf") if tool == "legalbenchrag" else 1.0)
    at = () if ours.startswith("ceiling") else ("rank",)
    return Twin(ours, Measure(name, compute, f"{name}, as {tool} prints it.", tool, at=at, bounds=bounds), reasons)


PEERS = (
    Peer("legalbenchrag",
        (_twin("spanR", "legalbenchrag:recall", "shared", ("references",), _CHUNKS, _REFERENCES),
         _twin("spanP", "legalbenchrag:precision", "shared", ("chunks",), _CHUNKS, _REFERENCES)),
        tuple(f"{name}@{k}" for k in (1, 2, 4, 8, 16, 32, 64) for name in ("spanR", "spanP"))),
    Peer("chroma",
        (_twin("spanR", "chroma:recall", "united", ("references",), _REFERENCES),
         _twin("spanP", "chroma:precision", "united", ("chunks",), _CHUNKS),
         _twin("IoU", "chroma:iou", "united", ("chunks", "missed"), _CHUNKS, _REFERENCES),
         _twin("ceiling(IoU)", "chroma:precision_omega", "", (), _TOUCHING)),
        ("spanR@5", "spanP@5", "IoU@5", "ceiling(IoU)")),
)  # fmt: skip
"""What ``--compat`` knows besides the official INEX tool; the defaults are what their papers and code report."""


def peer_named(name: str | None) -> Peer | None:
    """Return the peer of a name; None for none, and for the official INEX tool, which is a set of policies."""
    return next((peer for peer in PEERS if peer.name == name), None)
