"""One document of one topic as a heat map: what was highlighted, what a run returned, and at which rank.

It shows itself in a notebook: plain HTML with its styles inside, and no script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.placement import Placement
from focuseval.errors import InputError, MissingDataError
from focuseval.evaluation.sources import as_gold, as_index, read

Integers = NDArray[np.int64]
Pairs = Sequence[tuple[int, int]]

KINDS = ("plain", "noise", "missed", "found")
"""Neither highlighted nor returned; returned alone; highlighted alone; both."""
_RETURNED = "border-bottom:2px solid #0072b2"
_STYLES = {
    "plain": "",
    "noise": f"background:radial-gradient(circle,#1d1c1a59 .8px,#0000 1.1px) 0 0/5px 5px #f1f1f0;{_RETURNED}",
    "missed": "background:repeating-linear-gradient(135deg,#7a5c0080 0 2px,#0000 2px 7px) #ffe37d",
    "found": f"background:#ffe37d;{_RETURNED}",
}
"""As in the report: yellow is highlighted, hatched is missed, dotted grey is wasted, a line is what was returned."""
_WORDS = {
    "found": "highlighted and returned",
    "missed": "highlighted, not returned",
    "noise": "returned, not highlighted",
}
_PAGE = (
    "white-space:pre-wrap;overflow-wrap:anywhere;max-height:40em;overflow:auto;padding:.6em;border:1px solid #d1d5db;"
    "background:#fff;color:#111827"
)


@dataclass(frozen=True, eq=False)
class HeatSegments:
    """Pieces of a text, in order, from its first character to its last."""

    start: Integers
    end: Integers
    highlighted: NDArray[np.bool_]
    rank: Integers
    """The first rank that returns the piece, 0 where none does."""
    times: Integers  # how many results return it

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.start)

    @property
    def kind(self) -> Integers:
        """For every piece, its kind: a code into `KINDS`."""
        return 2 * self.highlighted.astype(np.int64) + (self.rank > 0)

    def characters(self) -> dict[str, int]:
        """Return how many characters are of each kind."""
        sizes = np.bincount(self.kind, self.end - self.start, len(KINDS)).astype(np.int64)
        return dict(zip(KINDS, sizes.tolist(), strict=True))


def segments(length: int, highlights: Pairs, results: Pairs, ranks: Sequence[int] | None = None) -> HeatSegments:
    """Cut a text of `length` characters at the ends of highlights and results; both may overlap each other.

    `ranks` are those of the results; by default they are ranked as they stand. What lies beyond the text is cut off.

    >>> found = segments(10, highlights=[(2, 6)], results=[(4, 8), (5, 10)])
    >>> list(zip(found.start.tolist(), found.kind.tolist(), found.rank.tolist(), found.times.tolist()))
    [(0, 0, 0, 0), (2, 2, 0, 0), (4, 3, 1, 1), (5, 3, 1, 2), (6, 1, 1, 2), (8, 1, 2, 1)]
    """
    ranks = range(1, len(results) + 1) if ranks is None else ranks
    highlighted, rank, times = np.zeros((3, length), np.int64)
    for low, high in highlights:
        highlighted[max(low, 0) : high] = 1
    for (low, high), place in sorted(zip(results, ranks, strict=True), key=lambda one: -one[1]):
        rank[max(low, 0) : high] = place  # from the last rank to the first, which stays
        times[max(low, 0) : high] += 1
    changes = np.any(np.diff([highlighted, rank, times], prepend=-1) != 0, axis=0)
    edges = np.append(np.flatnonzero(changes), length)
    start = edges[:-1]
    return HeatSegments(start, edges[1:], highlighted[start] > 0, rank[start], times[start])


@dataclass(frozen=True)
class HeatMap:
    """One document of one topic: its text and the pieces that highlights and results cut it into."""

    topic: str
    document: str
    run: str
    text: str
    segments: HeatSegments
    context: int = 300
    """Characters of plain text that are shown on either side of what is marked; more is left out."""

    def _repr_html_(self) -> str:
        """Show the document in a notebook."""
        sizes = self.segments.characters()
        legend = " ".join(
            f'<span style="{_STYLES[kind]}">{words}: {sizes[kind]:,}</span>' for kind, words in _WORDS.items()
        )
        title = f"topic {escape(self.topic)} · {escape(self.document)} · {escape(self.run)}"
        body = "".join(self._pieces())
        return f'<figure><figcaption><b>{title}</b><br/>{legend}</figcaption><div style="{_PAGE}">{body}</div></figure>'

    def _pieces(self) -> Iterator[str]:
        """Yield the text piece by piece, long stretches without any mark shortened."""
        s = self.segments
        rows = zip(s.start.tolist(), s.end.tolist(), s.kind.tolist(), s.rank.tolist(), s.times.tolist(), strict=True)
        for start, end, kind, rank, times in rows:
            text = self.text[start:end]
            if kind:
                again = f", {times} results" if times > 1 else ""
                title = _WORDS[KINDS[kind]] + (f": rank {rank}{again}" if rank else "")
                mark = f"<sub>{rank}</sub>" if rank else ""
                yield f'<span style="{_STYLES[KINDS[kind]]}" title="{title}">{escape(text)}{mark}</span>'
                continue
            before = 0 if start == 0 else self.context
            after = 0 if end == len(self.text) else self.context
            left = len(text) - before - after
            if left <= 0:
                yield escape(text)
            else:
                gap = f'<i style="color:#6b7280">… {left:,} characters …</i>'
                yield escape(text[:before]) + gap + escape(text[len(text) - after :])


def heat_map(gold: Any, run: Any, topic: str, document: str, *, docs: Any, at: int | None = None) -> HeatMap:
    """Return one document of a topic with what was highlighted in it and what a run returned from it.

    Parameters
    ----------
    gold, run
        Values, paths or frames, as `focuseval.evaluate` takes them.
    topic, document
        Their ids.
    docs
        The documents: an index, a path, or a mapping from ids to texts.
    at
        Look at the first `at` results of the topic only.
    """
    index = as_index(docs)
    if index is None:
        raise MissingDataError("a heat map shows text: give the documents with docs=")
    judged, ranked = as_gold(gold, index), read(run, None, index)
    row = int(Placement(index, pa.array([document])).document[0])
    if row < 0:
        raise InputError(f"expected a document of the collection, found {document!r}")
    if topic not in judged.topics and topic not in ranked.topics:
        raise InputError(f"expected a topic of the gold or the run, found {topic!r}")
    text, highlights = index.text(row), list[tuple[int, int]]()
    if topic in judged.topics and judged.placement is not None:
        p, here = judged.passages, judged.placement.document[judged.passages.document] == row
        mine = np.flatnonzero(here & (p.topic == judged.topics.index(topic)))
        if not judged.aligned and (p.start[mine] < 0).any():
            where = judged.file or "the gold"
            raise MissingDataError(f"{where}: the passages of topic {topic!r} have no places in the text")
        mine = mine[p.start[mine] >= 0]  # an ambiguous or lost quote highlights nothing
        highlights = list(zip(p.start[mine].tolist(), p.end[mine].tolist(), strict=True))
    spans, ranks = list[tuple[int, int]](), list[int]()
    if topic in ranked.topics and ranked.placement is not None:
        low, high = ranked.bounds[ranked.topics.index(topic) :][:2]
        here = np.flatnonzero(ranked.placement.document[low : high if at is None else min(high, low + at)] == row)
        start, end = np.zeros(len(here), np.int64), np.full(len(here), len(text))
        if ranked.start is not None and ranked.end is not None:
            start, end = ranked.start[low + here], ranked.end[low + here]
        placed = np.flatnonzero((start >= 0) & (end > start))
        spans = list(zip(start[placed].tolist(), end[placed].tolist(), strict=True))
        ranks = (here[placed] + 1).tolist()
    return HeatMap(topic, document, ranked.run_id, text, segments(len(text), highlights, spans, ranks))
