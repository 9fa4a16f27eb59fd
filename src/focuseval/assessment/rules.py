"""What an assessor may do to a document, and what it leads to: pure functions from judgement to judgement.

`check` refuses what the rules forbid, `apply` does what was allowed; a log of accepted edits is therefore replayed
with `apply` alone. Nothing here knows of the web, of SQL or of HTML.

A finished document that is edited is open again, whatever the edit: adding a note or a flag reopens it, too. On a
document that is not finished, notes and flags leave the status as it is.

Undo and redo are derived from the log, without limit. An undo is an event like any other: nothing is ever taken out of
the log, so it also says who changed their mind. A replacement with a ``barrier`` (the text itself changed) cannot be
undone past.

A project judges on one of the scales of `focuseval.data.gold.Gold`. On ``highlights`` nothing is graded. In the second
pass of 2005 (``exhaustivity``) an element with highlighted text is highly exhaustive (``2``), somewhat exhaustive
(``1``) or too small to be judged on its own (``?``). A container can never be less exhaustive than what it contains, so
a grade rises to every ancestor; only what no grade reaches has to be graded by hand.

From 2002 to 2004 nothing is highlighted. Elements get pairs of grades: relevance and coverage (2002, ``coverage``, as
``2L``), or exhaustivity and specificity (2003–04, ``grades``, such as ``31``). What is 0 on one side is 0 on both. A
container is at least as exhaustive (relevant) as what it contains: all around something relevant has to be graded, and
all inside something irrelevant is irrelevant. Since 2003 a container that has no text of its own is at most as specific
as the most specific of its children. A judgement that breaks these rules can be edited, but not finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from focuseval.collection.rendering import Document, Element
from focuseval.data import highlights as spans
from focuseval.errors import AssessError
from focuseval.measures.profiles import LINK_TYPES

TODO, OPEN, RELEVANT, NOT_RELEVANT, SKIPPED = "todo", "in progress", "relevant", "not relevant", "skipped"
STATUSES = (TODO, OPEN, RELEVANT, NOT_RELEVANT, SKIPPED)
FINISHED = (RELEVANT, NOT_RELEVANT)
HIGHLIGHTS, EXHAUSTIVITY, COVERAGE, PAIRS = "highlights", "exhaustivity", "coverage", "grades"
SCALES: dict[str, tuple[str, ...]] = {
    HIGHLIGHTS: (),
    EXHAUSTIVITY: ("?", "1", "2"),
    COVERAGE: ("0N", "1L", "1S", "1E", "2L", "2S", "2E", "3L", "3E"),
    PAIRS: ("00", "11", "12", "13", "21", "22", "23", "31", "32", "33"),
}
"""The grades of every scale, lowest first. What is highly relevant is no too small unit: 2002 has no ``3S``."""
ON_ELEMENTS = (COVERAGE, PAIRS)  # the scales on which elements are graded and nothing is highlighted
NOTE_LIMIT, PATH_LIMIT, POSITION_LIMIT = 20_000, 50_000, 2**32
"""Characters of a note, paths of one edit, and positions that a browser may send."""

Edit = dict[str, Any]
"""``{"kind": "highlight", "start": 3, "end": 9, "quote": "…"}``: what is stored, and what a browser sends."""


def scale_facts(scale: str) -> dict[str, Any]:
    """Return what a project's settings, an export and an archive say of the scale; exhaustivity came first."""
    return {"exhaustivity": scale == EXHAUSTIVITY, **({"scale": scale} if scale in ON_ELEMENTS else {})}


def scale_of(facts: Mapping[str, Any]) -> str:
    """Return the scale that such facts name.

    >>> [scale_of(scale_facts(scale)) for scale in SCALES] == list(SCALES)
    True
    """
    return str(facts.get("scale") or (EXHAUSTIVITY if facts.get("exhaustivity") else HIGHLIGHTS))


@dataclass(frozen=True)
class Judgement:
    """What one assessor says of one document for one topic."""

    highlights: spans.Spans = ()
    bep: int | None = None  # the best entry point as it was set; None leaves it at the first highlighted character
    status: str = TODO
    flagged: bool = False
    note: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)  # grades as they were given, path → grade

    @property
    def entry_point(self) -> int | None:
        """The best entry point: the one set, else the first highlighted character.

        >>> Judgement(((7, 9),)).entry_point, Judgement(((7, 9),), bep=2).entry_point, Judgement().entry_point
        (7, 2, None)
        """
        if self.bep is not None:
            return self.bep
        return self.highlights[0][0] if self.highlights else None

    @property
    def found(self) -> bool:
        """Whether anything is relevant: highlighted, or graded as such on its own."""
        return bool(self.highlights) or any(len(grade) > 1 and grade[0] != "0" for grade in self.grades.values())

    @property
    def finished(self) -> bool:
        """Whether the assessor said that this document is done."""
        return self.status in FINISHED


def as_dict(judgement: Judgement) -> Edit:
    """Return a judgement as plain values, for JSON."""
    plain = {"highlights": [list(span) for span in judgement.highlights], "grades": dict(judgement.grades)}
    return {name: plain.get(name, value) for name, value in vars(judgement).items()}


def from_dict(values: Mapping[str, Any]) -> Judgement:
    """Return the judgement that `as_dict` gave.

    >>> from_dict(as_dict(Judgement(((0, 2),), 1, RELEVANT))) == Judgement(((0, 2),), 1, RELEVANT)
    True
    """
    highlights = tuple((int(start), int(end)) for start, end in values["highlights"])
    return Judgement(**{**values, "highlights": highlights, "grades": dict(values.get("grades", {}))})


def warnings(judgement: Judgement, text: str) -> tuple[str, ...]:
    """Return what is allowed but worth a second look.

    >>> warnings(Judgement(((3, 5),), bep=0), "ab cd")
    ('the best entry point lies outside the highlighted text',)
    """
    lines = []
    if judgement.highlights and judgement.bep is not None and not spans.contains(judgement.highlights, judgement.bep):
        lines.append("the best entry point lies outside the highlighted text")
    if judgement.bep is not None and not judgement.highlights:
        lines.append("there is an entry point, but nothing is highlighted")
    blank = sum(not text[start:end].strip() for start, end in judgement.highlights)
    if blank:
        lines.append(f"{blank} highlight{'s hold' if blank > 1 else ' holds'} white space only")
    return tuple(lines)


def without_links(document: Document) -> Document:
    """Return a document without the elements that the filter of INEX 2006 calls too small; their text stays.

    >>> rows = Element("/a[1]", "a", 0, 2, -1), Element("/a[1]/weblink[1]", "weblink", 0, 1, 0)
    >>> [one.path for one in without_links(Document("d", "ab", rows)).elements]
    ['/a[1]']
    """
    kept: list[Element] = []
    place = {-1: -1}  # row → the row, among those kept, of the element or of the nearest one around it
    for row, one in enumerate(document.elements):
        if one.tag in LINK_TYPES:
            place[row] = place[one.parent]
        else:
            place[row] = len(kept)
            kept.append(one._replace(parent=place[one.parent]))
    return replace(document, elements=tuple(kept))


def inferred(document: Document, grades: Mapping[str, str]) -> dict[str, str]:
    """Return every grade that holds: those given, and those that rise from below.

    >>> page = Document("d", "ab", (Element("/a[1]", "a", 0, 2, -1), Element("/a[1]/p[1]", "p", 0, 1, 0)))
    >>> inferred(page, {"/a[1]/p[1]": "2"})
    {'/a[1]/p[1]': '2', '/a[1]': '2'}
    """
    effective: dict[str, str] = {}
    order = SCALES[EXHAUSTIVITY]
    for path, grade in grades.items():
        row = document.row_of.get(path, -1)
        while row >= 0:
            element = document.elements[row]
            known = effective.get(element.path)
            if known is not None and order.index(known) >= order.index(grade):
                break
            effective[element.path] = grade
            row = element.parent
    return effective


def ungraded(document: Document, judgement: Judgement, scale: str) -> list[str]:
    """Return the paths of elements that need a grade before the document can be finished.

    2005: those with highlighted text that no grade reaches; before: those around an element that is relevant.
    """
    grades = judgement.grades
    if scale == EXHAUSTIVITY:
        known = inferred(document, grades)
        unknown = (one for one in document.elements if one.start < one.end and one.path not in known)
        return [one.path for one in unknown if spans.intersect(judgement.highlights, ((one.start, one.end),))]
    around = {above for path in grades if grades[path][0] != "0" for above in _above(document, path)}
    return [one.path for one in document.elements if one.path in around - grades.keys()]


def graded_spans(document: Document, grades: Mapping[str, str]) -> spans.Spans:
    """Return the text of elements that are graded as relevant and contain no other such one."""
    relevant = {path for path, grade in grades.items() if grade[0] != "0" and path in document.row_of}
    outer = {above for path in relevant for above in _above(document, path)}
    found = (document.elements[document.row_of[path]] for path in relevant - outer)
    return spans.merge((one.start, one.end) for one in found if one.start < one.end)


def contradictions(document: Document, grades: Mapping[str, str], scale: str) -> list[str]:
    """Return where pairs of grades break the rules between a container and what it contains.

    >>> page = Document("d", "ab", (Element("/a[1]", "a", 0, 2, -1), Element("/a[1]/p[1]", "p", 0, 2, 0)))
    >>> contradictions(page, {"/a[1]": "21", "/a[1]/p[1]": "31"}, "grades")
    ['/a[1] (21) is less exhaustive than /a[1]/p[1] (31), which it contains']
    >>> contradictions(page, {"/a[1]": "33", "/a[1]/p[1]": "31"}, "grades")
    ['/a[1] (33) is more specific than everything that it contains']
    """
    lines, children = [], dict[int, list[int]]()
    for row, one in enumerate(document.elements):
        children.setdefault(one.parent, []).append(row)
    less = "relevant" if scale == COVERAGE else "exhaustive"
    for path, grade in grades.items():
        lines += [
            f"{name} ({grades[name]}) is less {less} than {path} ({grade}), which it contains"
            for name in _above(document, path)
            if name in grades and grades[name][0] < grade[0]
        ]
        row = document.row_of.get(path, -1)
        inside = [document.elements[child] for child in children.get(row, ()) if row >= 0]
        parts = [grades.get(child.path, "") for child in inside if child.start < child.end]
        if scale == PAIRS and parts and all(parts) and grade[1] > max(part[1] for part in parts):
            one = document.elements[row]
            own: spans.Spans = ((one.start, one.end),)
            for child in inside:
                own = spans.subtract(own, child.start, child.end)
            if not any(document.text[slice(*span)].strip() for span in own):
                lines.append(f"{path} ({grade}) is more specific than everything that it contains")
    return lines


def _above(document: Document, path: str) -> Iterator[str]:
    """Yield the paths of the elements that contain one, from the inside out."""
    row = document.elements[document.row_of[path]].parent if path in document.row_of else -1
    while row >= 0:
        yield document.elements[row].path
        row = document.elements[row].parent


def check(judgement: Judgement, edit: Edit, document: Document, *, scale: str = HIGHLIGHTS) -> None:
    """Refuse an edit that the rules forbid, those of the project's scale included; say what is missing."""
    kind, length = edit["kind"], len(document.text)
    marks = kind in ("highlight", "entry") or (kind == "replace" and edit["judgement"]["highlights"])
    if scale in ON_ELEMENTS and marks:
        raise AssessError("this project grades elements; nothing is highlighted")
    if kind in ("highlight", "unhighlight"):
        start, end = edit["start"], edit["end"]
        if not 0 <= start < end <= length:
            raise AssessError(f"the span {start}–{end} does not lie inside the {length} characters")
        if document.text[start:end] != edit["quote"]:
            raise AssessError(f"the quote is not the text at {start}–{end}; reload the document")
    elif kind == "entry" and edit["position"] is not None and not 0 <= edit["position"] < length:
        raise AssessError(f"the entry point {edit['position']} lies outside the {length} characters")
    elif kind == "grade":
        _check_grade(edit, document, scale)
    elif kind == "finish":
        _check_finish(judgement, edit, document, scale)
    elif kind == "replace":
        _check_replacement(from_dict(edit["judgement"]), length)


def _check_grade(edit: Edit, document: Document, scale: str) -> None:
    if edit["grade"] not in (None, *SCALES[scale]):
        known = f"expected one of {', '.join(SCALES[scale])}" if SCALES[scale] else "nothing is graded"
        raise AssessError(f"on the project's scale {known}, found {edit['grade']!r}")
    if unknown := [path for path in edit["paths"] if path not in document.row_of]:
        raise AssessError(f"the document has no element {unknown[0]}")


def _check_finish(judgement: Judgement, edit: Edit, document: Document, scale: str) -> None:
    what = "relevant element" if scale in ON_ELEMENTS else "highlight"
    if not edit["relevant"]:
        if judgement.found:
            raise AssessError(f"a document with {what}s is relevant; remove them to finish it as not relevant")
        return
    if not judgement.found:
        raise AssessError(f"a relevant document needs at least one {what}")
    if missing := ungraded(document, judgement, scale) if SCALES[scale] else []:
        grade = "exhaustivity" if scale == EXHAUSTIVITY else "grade"
        have = "element has" if len(missing) == 1 else "elements have"
        raise AssessError(f"{len(missing)} {have} no {grade} yet, the first is {missing[0]}")
    if wrong := contradictions(document, judgement.grades, scale) if scale in ON_ELEMENTS else []:
        raise AssessError(wrong[0])


def _check_replacement(judgement: Judgement, length: int) -> None:
    end = judgement.highlights[-1][1] if judgement.highlights else 0
    if not spans.is_normal(judgement.highlights) or end > length:
        raise AssessError("the highlights overlap, touch or leave the text")
    if judgement.bep is not None and not 0 <= judgement.bep < length:
        raise AssessError(f"the entry point {judgement.bep} lies outside the text")
    wrong = (judgement.status == RELEVANT) != judgement.found if judgement.finished else False
    if wrong or judgement.status not in STATUSES:
        raise AssessError(f"the status '{judgement.status}' does not fit {len(judgement.highlights)} highlights")


def apply(judgement: Judgement, edit: Edit) -> Judgement:
    """Return the judgement after an edit that `check` accepted.

    >>> apply(Judgement(status=RELEVANT), {"kind": "highlight", "start": 3, "end": 9})
    Judgement(highlights=((3, 9),), bep=None, status='in progress', flagged=False, note='', grades={})
    """
    return _APPLY[edit["kind"]](judgement, edit)


def _grade(judgement: Judgement, edit: Edit) -> Judgement:
    kept = {path: grade for path, grade in judgement.grades.items() if path not in set(edit["paths"])}
    if edit["grade"] is not None:
        kept |= dict.fromkeys(edit["paths"], edit["grade"])
    return replace(judgement, grades=kept, status=OPEN)


def _finish(judgement: Judgement, edit: Edit) -> Judgement:
    if edit["relevant"]:
        return replace(judgement, status=RELEVANT)
    kept = {path: grade for path, grade in judgement.grades.items() if len(grade) == 1 or grade[0] == "0"}
    return replace(judgement, status=NOT_RELEVANT, bep=None, grades=kept)  # what goes are links, left out since


def _reopened(judgement: Judgement) -> str:
    """Return the status after a note or a flag: what was finished is open again, what was not stays as it was."""
    return OPEN if judgement.finished else judgement.status


_APPLY: dict[str, Callable[[Judgement, Edit], Judgement]] = {
    "highlight": lambda j, e: replace(j, highlights=spans.add(j.highlights, e["start"], e["end"]), status=OPEN),
    "unhighlight": lambda j, e: replace(j, highlights=spans.subtract(j.highlights, e["start"], e["end"]), status=OPEN),
    "entry": lambda j, e: replace(j, bep=e["position"], status=OPEN),
    "grade": _grade,
    "finish": _finish,
    "reopen": lambda j, _: replace(j, status=OPEN),
    "skip": lambda j, _: replace(j, status=SKIPPED),
    "flag": lambda j, e: replace(j, flagged=e["on"], status=_reopened(j)),
    "note": lambda j, e: replace(j, note=e["text"], status=_reopened(j)),
    "replace": lambda _, e: from_dict(e["judgement"]),
}
"""Every kind of edit; ``undo`` and ``redo`` are steps of a `Timeline`."""


@dataclass
class Timeline:
    """The states of one document, and where its assessor stands among them."""

    past: list[Judgement] = field(default_factory=lambda: [Judgement()])
    future: list[Judgement] = field(default_factory=list)

    @property
    def now(self) -> Judgement:
        """The judgement as it stands."""
        return self.past[-1]

    def step(self, edit: Edit) -> Judgement:
        """Take one event and return the judgement after it.

        >>> line = Timeline()
        >>> steps = [{"kind": "flag", "on": True}, {"kind": "undo"}, {"kind": "redo"}]
        >>> [line.step(edit).flagged for edit in steps]
        [True, False, True]
        """
        kind = edit["kind"]
        if kind in ("undo", "redo"):
            source, target = (self.past, self.future) if kind == "undo" else (self.future, self.past)
            if len(source) < (2 if kind == "undo" else 1):
                raise AssessError(f"there is nothing to {kind}")
            target.append(source.pop())
        else:
            after = apply(self.now, edit)
            if edit.get("barrier"):
                self.past.clear()
            self.past.append(after)
            self.future.clear()
        return self.now


def replay(edits: Iterable[Edit]) -> Timeline:
    """Return the timeline that a document's events lead to."""
    line = Timeline()
    for edit in edits:
        line.step(edit)
    return line


def _is_position(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < POSITION_LIMIT


_FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("highlight", "unhighlight"), ("start", "end", "quote")),
    "entry": ("position",),
    "grade": ("paths", "grade"),
    "finish": ("relevant",),
    **dict.fromkeys(("reopen", "skip"), ()),
    "flag": ("on",),
    "note": ("text",),
    **dict.fromkeys(("undo", "redo"), ()),
}
"""The fields of every edit that a browser may send. ``replace`` is missing on purpose: only the server makes one."""
_VALID: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("start", "end"), _is_position),
    "quote": lambda value: isinstance(value, str),
    "position": lambda value: value is None or _is_position(value),
    "paths": lambda value: (
        isinstance(value, list) and len(value) <= PATH_LIMIT and all(isinstance(path, str) for path in value)
    ),
    "grade": lambda value: value is None or any(value in grades for grades in SCALES.values()),
    **dict.fromkeys(("relevant", "on"), lambda value: isinstance(value, bool)),
    "text": lambda value: isinstance(value, str) and len(value) <= NOTE_LIMIT,
}
"""Whether a field has a value that the rules can read."""


def parse_edit(data: Any) -> Edit:
    """Return the edit that a browser asks for, with nothing in it that no rule reads; anything else is refused.

    >>> parse_edit({"kind": "flag", "on": True, "other": 1})
    {'kind': 'flag', 'on': True}
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise AssessError(f"expected one of {', '.join(_FIELDS)}, found {kind!r}")
    for name in _FIELDS[kind]:
        if not _VALID[name](data.get(name)):
            raise AssessError(f"the edit's '{name}' is missing or not what it should be")
    return {"kind": kind, **{name: data.get(name) for name in _FIELDS[kind]}}
