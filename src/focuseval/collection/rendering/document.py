"""One document as an assessor sees it: its text, its hash and its elements."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from focuseval.engine.lazy import cached_property


class Element(NamedTuple):
    """One element: where it is, and which row of the table contains it (−1 for the root)."""

    path: str
    tag: str
    start: int
    end: int
    parent: int


@dataclass(frozen=True)
class Document:
    """An immutable text with its elements in document order (none for plain text)."""

    id: str
    text: str
    elements: tuple[Element, ...] = field(default=(), repr=False)

    @cached_property
    def sha256(self) -> str:
        """The hash that every judgement of this text is tied to."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Path → row in `elements`."""
        return {element.path: row for row, element in enumerate(self.elements)}
