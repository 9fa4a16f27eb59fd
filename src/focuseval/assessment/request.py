"""What arrives from outside becomes an edit, or is refused: every field, its type and its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from focuseval.assessment.exhaustivity import GRADES
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from focuseval.assessment.rules import Edit

NOTE_LIMIT = 20_000
PATH_LIMIT = 50_000
FAR = 2**32


def parse_edit(data: Any) -> Edit:
    """Return the edit that a browser asks for, with nothing in it that no rule reads.

    >>> parse_edit({"kind": "flag", "on": True, "other": 1})
    {'kind': 'flag', 'on': True}
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise AssessError(f"expected one of {', '.join(_FIELDS)}, found {kind!r}")
    return {"kind": kind, **{name: _field(data, name, test) for name, test in _FIELDS[kind].items()}}


def _field(data: dict[str, Any], name: str, test: Callable[[Any], bool]) -> Any:
    value = data.get(name)
    if not test(value):
        raise AssessError(f"the edit's '{name}' is missing or not what it should be")
    return value


def _is_position(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < FAR


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_note(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= NOTE_LIMIT


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= PATH_LIMIT and all(isinstance(path, str) for path in value)


_FIELDS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "highlight": {"start": _is_position, "end": _is_position, "quote": _is_text},
    "unhighlight": {"start": _is_position, "end": _is_position, "quote": _is_text},
    "entry": {"position": lambda value: value is None or _is_position(value)},
    "grade": {"paths": _is_paths, "grade": lambda value: value is None or value in GRADES},
    "finish": {"relevant": _is_flag},
    "reopen": {},
    "skip": {},
    "flag": {"on": _is_flag},
    "note": {"text": _is_note},
    "undo": {},
    "redo": {},
}
"""What each kind of edit carries. ``replace`` is missing on purpose: only the server makes one."""
