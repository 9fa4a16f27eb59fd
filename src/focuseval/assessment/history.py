"""A log of events, folded into judgements; undo and redo are derived from it, without limit.

An undo is an event like any other: nothing is ever taken out of the log, so it also says who changed their mind.
A replacement with a ``barrier`` (the text itself changed) cannot be undone past.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from focuseval.assessment.rules import Edit, Judgement, apply
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Timeline:
    """The states of one document, and where its assessor stands among them."""

    past: list[Judgement] = field(default_factory=lambda: [Judgement()])
    future: list[Judgement] = field(default_factory=list)

    @property
    def now(self) -> Judgement:
        """The judgement as it stands."""
        return self.past[-1]

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return len(self.past) > 1

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return bool(self.future)

    def step(self, edit: Edit) -> Judgement:
        """Take one event and return the judgement after it.

        >>> line = Timeline()
        >>> steps = [{"kind": "flag", "on": True}, {"kind": "undo"}, {"kind": "redo"}]
        >>> [line.step(edit).flagged for edit in steps]
        [True, False, True]
        """
        if edit["kind"] == "undo":
            self._move(self.past, self.future, enough=2, what="undo")
        elif edit["kind"] == "redo":
            self._move(self.future, self.past, enough=1, what="redo")
        else:
            after = apply(self.now, edit)
            if edit.get("barrier"):
                self.past.clear()
            self.past.append(after)
            self.future.clear()
        return self.now

    def _move(self, source: list[Judgement], target: list[Judgement], *, enough: int, what: str) -> None:
        if len(source) < enough:
            raise AssessError(f"there is nothing to {what}")
        target.append(source.pop())


def replay(edits: Iterable[Edit]) -> Timeline:
    """Return the timeline that a document's events lead to."""
    line = Timeline()
    for edit in edits:
        line.step(edit)
    return line
