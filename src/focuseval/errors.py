"""Every error that focuseval raises on purpose, in one tree.

::

    FocusevalError            one line for the user, exit code 1
    ├── InputError            a file, or what is in it, is wrong: place, expected, found, remedy
    │   ├── CollectionError   a collection's file or archive, or an index
    │   ├── FormatError       a run, gold or topic file that does not obey its format
    │   ├── NexiError         a query that does not parse; knows its column
    │   └── TaskError         a run that breaks its task's rules
    ├── UsageError            something was asked for that does not exist: a task, a format; exit code 2
    │   └── MeasureError      an unknown measure, a parameter out of range, a policy that does not exist
    ├── MissingDataError      a measure needs what the gold, the run or the index does not say
    ├── NotComparableError    two results that share no common ground
    ├── ModelError            a language model's server that gives no answers
    │   ├── AnswerError       a reply that is no answer: no JSON, or JSON of another form
    │   └── UnansweredError   one question that got no answer; others may
    └── AssessError           an assessment that the rules refuse
        ├── ConflictError     an edit of a version that is no longer the newest; carries the newer one
        ├── ChangedTextError  a judgement of a text that has changed since
        └── StorageError      an edit that could not be written: the disk is full, say

A user sees ``file:line: what was expected, what was found; what to do`` and never a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where in the input something was found: a file, and as much more as is known.

    >>> str(Place("run.txt", 3))
    'run.txt:3'
    >>> str(Place("a.xml", 3, 7))
    'a.xml:3:7'
    """

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return ``file:line:column``, leaving out what is unknown."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a question that offers the names nearest to an unknown one, whatever their case; else something else.

    >>> did_you_mean("ndcg", ["nDCG", "AP"]), did_you_mean("x", ["nDCG"], "see the list")
    ('did you mean nDCG?', 'see the list')
    """
    from difflib import get_close_matches  # noqa: PLC0415  only a slip needs it

    lower = {other.lower(): other for other in known}
    near = [lower[match] for match in get_close_matches(name.lower(), list(lower), n=3, cutoff=0.5)]
    return f"did you mean {', '.join(near)}?" if near else otherwise


class FocusevalError(Exception):
    """Any error that focuseval raises on purpose; its text is one line that a user can act on."""


_LONG = 1000  # characters of a message; of a longer one, which quotes a strange input, beginning and end are shown


class InputError(FocusevalError):
    """A file, or what is in it, is wrong.

    >>> str(InputError("expected 8 columns, found 7", at=Place("run.fol", 2), remedy="use 'focuseval convert'"))
    "run.fol:2: expected 8 columns, found 7; use 'focuseval convert'"
    """

    def __init__(self, what: str, *, at: Place | str | None = None, remedy: str | None = None) -> None:
        self.what = what if len(what) <= _LONG else f"{what[: _LONG // 2]} … {what[-_LONG // 4 :]}"
        self.at = Place(at) if isinstance(at, str) else at
        self.remedy = remedy
        place = f"{self.at}: " if self.at else ""
        super().__init__(place + self.what + (f"; {remedy}" if remedy else ""))


class CollectionError(InputError):
    """A collection's file or archive, or an index, cannot be used."""


class FormatError(InputError):
    """A run, gold or topic file does not obey its format."""


class NexiError(InputError):
    """A NEXI query does not parse; ``at.column`` points at the character (1-based)."""


class TaskError(InputError):
    """A run breaks its task's rules."""


class UsageError(FocusevalError):
    """Something was asked for that does not exist, whatever the files hold: a task, a format, a kind of run."""


class MeasureError(UsageError):
    """An unknown measure, a parameter out of range, or a policy that does not exist."""


class MissingDataError(FocusevalError):
    """A measure needs what the gold, the run or the index does not say."""


class NotComparableError(FocusevalError):
    """Two results share no common ground: other gold, other topics, other documents."""


class ModelError(FocusevalError):
    """A language model's server gives no answers."""


class AnswerError(ModelError):
    """A model's reply is no answer: no JSON, or JSON of another form."""


class UnansweredError(ModelError):
    """One question to a model got no answer; others may."""


class AssessError(FocusevalError):
    """An assessment that the rules refuse."""


class ConflictError(AssessError):
    """An edit of a version that is no longer the newest."""

    def __init__(self, what: str, newer: object) -> None:
        self.newer = newer
        super().__init__(what)


class ChangedTextError(AssessError):
    """A judgement speaks of a text that has changed since; re-anchor it first."""


class StorageError(AssessError):
    """An edit could not be written; nothing of it was kept."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with what it counts.

    >>> counted(1, "topic"), counted(1_200, "topic"), counted(0, "entity", "entities")
    ('1 topic', '1,200 topics', '0 entities')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
