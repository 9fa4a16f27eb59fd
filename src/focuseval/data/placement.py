"""Where rows lie in a collection: the document and the status of each, and how its text was found there.

A `Placement` says it for all rows of a run or of a gold; its `Alignment` holds what was found for texts and quotes: one
line for people, and a table of everything that changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.remarks import Remark, worded
from focuseval.engine.lazy import cached_property
from focuseval.errors import Place, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPAN, POINT, UNKNOWN_PLACE, NO_DOCUMENT, NO_PLACE, TEXT_AMBIGUOUS, TEXT_LOST, BAD_SPAN = range(8)
"""How a row lies in its collection: it has a span, or an entry point; its place is declared unknown; its document is
not in the collection; its place is not in the document; its text is in several places, or nowhere in its document; its
span is outside its document."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the rows of a run, or the documents of a gold, lie in a collection."""

    collection: Any  # the documents: a `focuseval.collection.index.Index`, which this package does not know
    ids: pa.Array  # document ids: of every result of a run, of every document of a gold
    status: NDArray[np.int8] | None = None
    """For every result, one of the codes above; None for whole documents, and for a gold."""
    alignment: Alignment | None = None  # what was found for texts and quotes; None where there were none to look for

    @cached_property
    def document(self) -> NDArray[np.int64]:
        """For every id, the row of its document in the collection, −1 where the collection does not have it."""
        return np.asarray(self.collection.find(self.ids), np.int64)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """For every id, the characters of its document, −1 where the collection does not have it."""
        return np.append(self.collection.lengths, -1)[self.document]

    def is_in(self, collection: Any) -> bool:
        """Say whether this is a placement in the same documents."""
        return bool(self.collection is collection or self.collection.sha256 == collection.sha256)

    def take(self, rows: NDArray[np.integer]) -> Placement:
        """Return the placement of some rows; the alignment still speaks of all."""
        kept = replace(self, ids=self.ids.take(rows), status=None if self.status is None else self.status[rows])
        if "document" in vars(self):
            vars(kept)["document"] = self.document[rows]
        return kept


HOW = ("exact", "normalised", "approximate", "ambiguous", "lost", "unchecked")
"""How a text was placed; ``unchecked``: a span that came without a text to check it against."""
EXACT, NORMALISED, APPROXIMATE, AMBIGUOUS, LOST, UNCHECKED = range(len(HOW))
_SHIFTS = 6  # so many different shifts are named in a summary; the rest are counted together


@dataclass(frozen=True, eq=False)
class Alignment:
    """Where every text stands, and how that is known; rows are those of the run, the gold or the chunks."""

    start: NDArray[np.int64]
    """First code point, −1 where the text has no place."""
    end: NDArray[np.int64]
    how: NDArray[np.int8]
    """Codes into `HOW`: exact, normalised, approximate, ambiguous, lost, unchecked."""
    similarity: NDArray[np.float64]
    places: NDArray[np.int64]
    """In how many places the text was found; 1 when the claimed place was right."""
    claimed_start: NDArray[np.int64]
    claimed_end: NDArray[np.int64]
    document: Sequence[str]
    text: Sequence[str | None]
    topic: Sequence[str] | None = None
    line: NDArray[np.int64] | None = None
    file: str = ""
    noun: str = "chunks"

    def __len__(self) -> int:
        return len(self.start)

    @property
    def names(self) -> list[str]:
        """How every text was placed, as words."""
        return [HOW[code] for code in self.how.tolist()]

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Rows whose claimed span was wrong and could be put right."""
        claimed = (self.claimed_start >= 0) & (self.start >= 0) & (self.how != UNCHECKED)
        other_end = (self.claimed_end >= 0) & (self.claimed_end != self.end)
        return np.asarray(claimed & ((self.claimed_start != self.start) | other_end))

    @property
    def is_ambiguous(self) -> NDArray[np.bool_]:
        """Rows whose text stands in several places that nothing tells apart."""
        return np.asarray(self.how == AMBIGUOUS)

    @property
    def is_lost(self) -> NDArray[np.bool_]:
        """Rows whose text stands nowhere in its document."""
        return np.asarray(self.how == LOST)

    def but_lost(self, rows: NDArray[np.bool_]) -> Alignment:
        """Return the alignment with some rows lost: they have neither a text nor a place."""
        return replace(self, how=np.where(rows, np.int8(LOST), self.how))

    def count(self, how: str) -> int:
        """Return how many rows were placed in this way, moved ones included."""
        return int(np.count_nonzero(self.how == HOW.index(how)))

    def summary(self) -> str:
        """Return one line: ``1,190 spans: 1,100 exact, 88 repaired (−1: 60, +2: 28), 1 ambiguous, 1 lost``.

        A shift is the true start minus the claimed one. *repaired* counts spans that were moved, however their
        text was found; those found in another way than exactly, unmoved, are named besides.
        """
        moved = self.moved
        parts = [f"{np.count_nonzero((self.how == EXACT) & ~moved):,} exact"]
        for how in ("normalised", "approximate", "unchecked"):
            number = np.count_nonzero((self.how == HOW.index(how)) & ~moved)
            parts += [f"{number:,} {how}"] if number else []
        if (self.claimed_start >= 0).any():
            often = Counter((self.start - self.claimed_start)[moved].tolist())
            ranked = sorted(often.items(), key=lambda item: (-item[1], item[0]))
            shifts = [f"{f'{shift:+d}' if shift else 0}: {number:,}" for shift, number in ranked[:_SHIFTS]]
            rest = sum(number for _, number in ranked[_SHIFTS:])
            shifts += [f"other: {rest:,}"] if rest else []
            repaired = f"{np.count_nonzero(moved):,} repaired"
            parts.append(f"{repaired} ({', '.join(shifts).replace('-', '−')})" if shifts else repaired)
        parts += [f"{np.count_nonzero(self.how == code):,} {HOW[code]}" for code in (AMBIGUOUS, LOST)]
        return f"{counted(len(self), self.noun.removesuffix('s'))}: {', '.join(parts)}"

    def remark(self) -> Remark:
        """Return what is said of all rows: that they are in place, or how many of them are where."""
        if len(self) and ((self.how == EXACT) & ~self.moved).all():
            return Remark("in place", len(self), (self.noun.removesuffix("s"),))
        return worded(self.summary())

    def first_unplaced(self) -> tuple[str, ...]:
        """Return one more line that names the first text without a place in its document and says why, if any."""
        # Another remark names documents that the collection does not have.
        rows = np.flatnonzero(((self.how == AMBIGUOUS) | (self.how == LOST)) & (self.places >= 0))
        if not len(rows):
            return ()
        row = int(rows[0])
        topic = f"topic {self.topic[row]!r}" if self.topic is not None else ""
        document = repr(self.document[row]) if self.document[row] else ""
        line = f" ({Place(self.file, int(self.line[row]))})" if self.line is not None and self.file else ""
        where = " in ".join(filter(None, (topic, document)))
        return (f"first without a place: {where}{line}: {self._reason(row, np.False_)}; --repairs lists all",)

    def repairs(self) -> pa.Table:
        """Return a table of every row that is not where it was said to be, or not found word for word."""
        moved = self.moved
        rows = np.flatnonzero(moved | ~np.isin(self.how, (EXACT, UNCHECKED)))
        shift = np.where(moved, self.start - self.claimed_start, 0)
        listed = rows.tolist()
        columns: dict[str, Any] = {
            "file": [self.file] * len(rows),
            "line": pa.array(self.line[rows]) if self.line is not None else pa.nulls(len(rows)),
            "topic": [self.topic[i] for i in listed] if self.topic is not None else pa.nulls(len(rows)),
            "document": [self.document[i] for i in listed],
            "how": [HOW[self.how[i]] for i in listed],
            **{name: getattr(self, name)[rows] for name in ("claimed_start", "claimed_end", "start", "end")},
            "shift": shift[rows],
            "similarity": self.similarity[rows],
            "reason": [self._reason(i, moved[i]) for i in listed],
            "text": [self.text[i] for i in listed],
        }
        positions = ("line", "claimed_start", "claimed_end", "start", "end", "shift")
        numbers = {"similarity": pa.float64(), **dict.fromkeys(positions, pa.int64())}
        return pa.table(columns, pa.schema([(name, numbers.get(name, pa.string())) for name in columns]))

    def _reason(self, row: int, moved: np.bool_) -> str:
        """Say why a row has no place, or why it was moved."""
        how, text, places = self.how[row], self.text[row], self.places[row]
        where = "its document" if self.document[row] else "the collection"
        if how == LOST:
            known = f"the text is nowhere in {where}" if places >= 0 else "the document is not in the collection"
            return known if text else "the text is empty"
        if how == AMBIGUOUS:
            if self.document[row]:
                return f"the text occurs {places} times and was left out; give its offset"
            return f"the text is in {places} documents and nothing tells them apart"
        return "moved to the nearest occurrence" if moved else f"found as {HOW[how]} text"


def repairs_of(alignments: Iterable[Alignment | None]) -> pa.Table:
    """Return one table of everything that was moved, respelt, ambiguous or lost."""
    return pa.concat_tables([one.repairs() for one in alignments if one is not None] or [nothing().repairs()])


def nothing() -> Alignment:
    """Return the alignment of no texts at all."""
    none = np.zeros(0, np.int64)
    return Alignment(none, none, none.astype(np.int8), none.astype(np.float64), none, none, none, [], [])
