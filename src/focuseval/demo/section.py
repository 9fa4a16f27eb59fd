"""A section of the demonstration: a heading, a sentence, a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focuseval.tables import Table


@dataclass(frozen=True)
class Section:
    """What one step of the loop has to show."""

    title: str
    text: str
    table: Table
    command: str = ""
    """How to get the same from the shell."""
    signature: str = ""
    """Of the scores in the table."""
