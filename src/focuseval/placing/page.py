"""The texts of one document, each at its place: exact, normalised, rendered, then approximate; one out of several.

Of several places one is chosen by what was claimed, by the neighbours, or not at all. A chunk's candidates are
increasing starts. Chunks in chunk order start one after the other; a place is *forced* when the earliest and the latest
increasing sequence of starts agree on it. What is then still open is tried against a direct neighbour: chunkers cut a
document end to end, so that of two candidates the one that touches is meant, and if several touch (a table's rule, say,
fits at every step) the one at the distance that all other chunks keep.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from focuseval.data.placement import AMBIGUOUS, APPROXIMATE, EXACT, LOST, NORMALISED
from focuseval.engine.lazy import cached_property
from focuseval.placing.normalise import (
    Normalised,
    longer_than,
    normal_form,
    normalise,
    rendered,
    rendered_form,
    squeezed,
    squeezed_form,
)
from focuseval.placing.occurrences import Grams, near_places, occurrences

Places = Sequence[Sequence[int]]  # of every text
OPEN = -1  # no candidate could be chosen
_BLANKS = 256  # chunks with more white space than this between them do not touch
_MARKED = 4  # a text with marks is at most so many times as long as without


def nearest_candidate(starts: Sequence[int], claimed: int) -> int:
    """Return the row of the candidate nearest to a claimed start, OPEN when two are equally near.

    >>> nearest_candidate([0, 10, 20], 11), nearest_candidate([0, 10], 5)
    (1, -1)
    """
    right = bisect_left(starts, claimed)
    rows = range(max(right - 1, 0), min(right + 1, len(starts)))
    near = sorted((abs(starts[row] - claimed), row) for row in rows)
    return OPEN if len(near) == 2 and near[0][0] == near[1][0] else near[0][1]


def forced(candidates: Places) -> list[int]:
    """Return, for chunks in order, the row of the only candidate that an increasing sequence of starts allows.

    Chunks with a single candidate are fixed, and bound those between them. A chunk without candidates binds nobody,
    and where no increasing sequence exists the order cannot be trusted: nothing is placed there.

    >>> forced([[0, 50], [20], [0, 50]]), forced([[0, 50], [0, 50]]), forced([[0, 50]])
    ([0, 0, 1], [0, 1], [-1])
    """
    rows = [0 if len(starts) == 1 else OPEN for starts in candidates]
    fixed = [-1, *(i for i, row in enumerate(rows) if row != OPEN), len(rows)]
    for before, after in pairwise(fixed):
        if after - before > 1:
            low = candidates[before][0] if before >= 0 else -1
            high = candidates[after][0] if after < len(rows) else None
            rows[before + 1 : after] = _forced_between(candidates[before + 1 : after], low, high)
    return rows


def _forced_between(candidates: Places, low: int, high: int | None) -> list[int]:
    """Do the same for a stretch of chunks that start after `low` and before `high`."""
    early, late = list[int](), list[int]()
    for starts in candidates:  # from the left the first candidate after the one taken before
        row = bisect_right(starts, low)
        early.append(row if row < len(starts) else OPEN)
        low = starts[row] if row < len(starts) else low
    for starts in reversed(candidates):  # from the right the last candidate before the one taken after
        row = (len(starts) if high is None else bisect_left(starts, high)) - 1
        late.insert(0, row)
        high = starts[row] if row >= 0 else high
    if OPEN in (row for row, starts in zip(early + late, [*candidates, *candidates], strict=True) if starts):
        return [OPEN] * len(candidates)
    return [a if a == b else OPEN for a, b in zip(early, late, strict=True)]


def touching(document: str, spans: tuple[Places, Places], order: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Return the choices, completed by candidates that touch or overlap a placed direct neighbour.

    `spans` are the starts and the ends of every chunk's candidates. Direct neighbours have consecutive numbers in
    `order`. Between touching chunks nothing but white space is left out. If several candidates touch, the one is
    taken that keeps the distance which all placed neighbours keep; the end of the document keeps none.

    >>> touching("a x x b", ([[0], [2, 4]], [[1], [3, 5]]), [0, 1], [0, -1])
    [0, 0]
    """
    rows, (starts, ends) = list(chosen), spans
    direct = [after - before == 1 for before, after in pairwise(order)]
    fixed = [i for i, near in enumerate(direct) if near and rows[i] != OPEN and rows[i + 1] != OPEN]
    gaps = [starts[i + 1][rows[i + 1]] - ends[i][rows[i]] for i in fixed]
    gap = gaps[0] if len(gaps) >= 3 and len(set(gaps)) == 1 else None  # what three pairs keep is a rule
    last = len(document.rstrip())
    for i in range(1, len(rows)):
        if rows[i] == OPEN and rows[i - 1] != OPEN and direct[i - 1]:
            begin, end = starts[i - 1][rows[i - 1]], ends[i - 1][rows[i - 1]]
            near = range(bisect_right(starts[i], begin), bisect_right(starts[i], end + _BLANKS))
            rows[i] = _only(document, [(end, starts[i][row], row) for row in near], gap, last)
    for i in range(len(rows) - 2, -1, -1):
        if rows[i] == OPEN and rows[i + 1] != OPEN and direct[i]:
            begin = starts[i + 1][rows[i + 1]]
            near = range(bisect_left(ends[i], begin - _BLANKS), bisect_left(starts[i], begin))
            rows[i] = _only(document, [(ends[i][row], begin, row) for row in near], gap, last)
    return rows


def _only(document: str, joints: Sequence[tuple[int, int, int]], gap: int | None, last: int) -> int:
    """Return the row of the only joint (end, next start, row) that touches, else of the only one at the common gap."""
    near = [(start - end, row) for end, start, row in joints if start <= end or document[end:start].isspace()]
    if len(near) != 1:  # a chunk that reaches the last character was cut short there, and keeps no distance
        near = [pair for pair in near if pair[0] == gap and all(end < last for end, *_ in joints)]
    return near[0][1] if len(near) == 1 else OPEN


class Wanted(NamedTuple):
    """A text to be placed, with the span that was claimed for it and its number among the document's chunks."""

    text: str
    start: int = -1
    end: int = -1
    order: int = -1


class Placed(NamedTuple):
    """A place: its span, how it was found, the similarity, and in how many places the text was found."""

    start: int
    end: int
    how: int
    similarity: float
    places: int


class Candidates(NamedTuple):
    """The places that one text may stand for, in increasing order, all found in the same way."""

    how: int = LOST
    similarity: float = 0.0
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def take(self, row: int) -> Placed:
        """Return one of the places, or the reason why there is none."""
        places = len(self.starts)
        if row != OPEN:
            return Placed(self.starts[row], self.ends[row], self.how, self.similarity, places)
        return Placed(-1, -1, AMBIGUOUS, self.similarity, places) if places else Placed(-1, -1, LOST, 0.0, 0)


_WAYS = {"normal": normal_form, "rendered": rendered_form, "squeezed": squeezed_form}
"""How a text is brought into the forms of a page."""


class Page:
    """A document's text; its normal form and its k-grams are made only when a text is not found without them."""

    def __init__(self, text: str) -> None:
        self.text = text

    normal = cached_property[Normalised](lambda page: normalise(page.text))
    rendered = cached_property[Normalised](lambda page: rendered(page.text))
    squeezed = cached_property[Normalised](lambda page: squeezed(page.text))
    """Forms in which texts are looked for, one after the other."""

    @cached_property
    def grams(self) -> Grams:
        """The k-grams of the normal form."""
        return Grams(self.normal.text)

    def candidates(self, exact: Mapping[str, Sequence[int]], similarity: float) -> dict[str, Candidates]:
        """Return the places of every text, from the first way that finds any."""
        texts = list(exact)
        found = [Candidates(EXACT, 1.0, at, [start + len(text) for start in at]) for text, at in exact.items()]
        most = int(len(self.normal.text) / similarity) + 1 if any(not one.starts for one in found) else 0
        sought = [i for i, candidate in enumerate(found) if not candidate.starts]
        missing = [i for i in sought if len(texts[i]) <= _MARKED * most or not longer_than(texts[i], _MARKED * most)]
        for way, form_of in _WAYS.items():
            forms = [form_of(texts[i]) for i in missing]
            form: Normalised | None = getattr(self, way) if forms else None
            for i, text, starts in zip(missing, forms, occurrences(form.text, forms) if form else (), strict=True):
                spans = [span for at in starts if form and (span := form.original(at, at + len(text)))]
                found[i] = Candidates(NORMALISED, 1.0, [start for start, _ in spans], [end for _, end in spans])
            missing = [i for i in missing if not found[i].starts]
        for i in missing:
            if len(texts[i]) <= most or not longer_than(texts[i], most):  # else no part of the document is similar
                found[i] = self._approximate(normal_form(texts[i]), similarity)
        return dict(zip(texts, found, strict=True))

    def _approximate(self, form: str, similarity: float) -> Candidates:
        """Return the nearest places of a normal form, if they are similar enough, each widened to whole characters."""
        starts, ends, inside, source = list[int](), list[int](), self.normal.inside, self.normal.source
        near = near_places(self.grams, form, similarity)
        for start, end, _ in near:
            while start and inside[start]:
                start -= 1  # noqa: PLW2901  back to the beginning of its character
            while end < len(inside) and inside[end]:
                end += 1  # noqa: PLW2901
            starts.append(int(source[start]))
            ends.append(int(source[end - 1]) + 1)
        return Candidates(APPROXIMATE, near[0].similarity, starts, ends) if near else Candidates()


def place(page: Page, wanted: Sequence[Wanted], similarity: float) -> list[Placed]:
    """Place the texts of one document; see the rules in `focuseval.placing.texts`.

    >>> from focuseval.data.placement import HOW
    >>> found = place(Page("one two one"), [Wanted("two"), Wanted("one"), Wanted("one", 7)], similarity=0.9)
    >>> [(HOW[place.how], place.start) for place in found]
    [('exact', 4), ('ambiguous', -1), ('exact', 8)]
    """
    claims = {
        want: Candidates(EXACT, 1.0, (want.start,), (want.start + len(want.text),))
        for want in wanted
        if want.start >= 0 and want.order < 0 and want.text and page.text.startswith(want.text, want.start)
    }
    texts = list({want.text: None for want in wanted if want not in claims})
    exact = dict(zip(texts, occurrences(page.text, texts), strict=True))
    if not claims and all(len(starts) == 1 for starts in exact.values()):
        once = {text: Placed(at, at + len(text), EXACT, 1.0, 1) for text, (at,) in exact.items()}
        return [once[want.text] for want in wanted]
    found = page.candidates(exact, similarity)
    options = {want: claims.get(want) or found[want.text] for want in wanted}
    for want, option in options.items():
        if option.how != EXACT and 0 <= want.start < want.end <= len(page.text):  # it may be there in normal form
            there = page.text[want.start : want.end]
            ways = () if longer_than(want.text, _MARKED * len(there)) else (normal_form, rendered_form)
            if any((form := form_of(there)) and form_of(want.text) == form for form_of in ways):
                options[want] = Candidates(NORMALISED, 1.0, (want.start,), (want.end,))
    rows = {want: 0 if len(option.starts) == 1 else OPEN for want, option in options.items()}
    if any(row == OPEN and want.order >= 0 and options[want].starts for want, row in rows.items()):
        chunks = sorted((want for want in options if want.order >= 0), key=lambda want: want.order)
        order = [want.order for want in chunks]
        if len(set(order)) == len(order):  # two texts with one number make the numbers meaningless
            starts, ends = [options[want].starts for want in chunks], [options[want].ends for want in chunks]
            rows |= dict(zip(chunks, touching(page.text, (starts, ends), order, forced(starts)), strict=True))
    for want, row in rows.items():
        if row == OPEN and want.start >= 0 and options[want].starts:
            rows[want] = nearest_candidate(options[want].starts, want.start)
    return [options[want].take(rows[want]) for want in wanted]
