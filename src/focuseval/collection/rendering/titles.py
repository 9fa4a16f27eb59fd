"""Titles of documents for lists: read once each, and never so many at once that a page has to wait for them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from focuseval.collection.rendering.layout import title_of
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from focuseval.collection.rendering.document import Document

PATIENCE = 0.5
"""Seconds that a list may spend on titles that are not known yet; the rest are known the next time."""


class Titles:
    """Document → its title, remembered."""

    def __init__(self, document: Callable[[str], Document]) -> None:
        self._document = document
        self._known: dict[str, str] = {}

    def of(self, names: Iterable[str], *, patience: float = PATIENCE) -> dict[str, str]:
        """Return the titles of documents, as far as they are known or soon found; '' for one that is gone."""
        end = time.monotonic() + patience
        found = {}
        for name in names:
            if name not in self._known and time.monotonic() < end:
                self._known[name] = self._read(name)
            found[name] = self._known.get(name, "")
        return found

    def _read(self, name: str) -> str:
        try:
            return title_of(self._document(name))
        except AssessError:
            return ""
