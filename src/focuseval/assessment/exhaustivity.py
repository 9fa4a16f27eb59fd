"""The second pass of 2005: how exhaustively an element speaks of the topic, inferred upward.

An element with highlighted text is highly exhaustive (``2``), somewhat exhaustive (``1``) or too small to be judged
on its own (``?``). A container can never be less exhaustive than what it contains, so a grade rises to every
ancestor; only what no grade reaches has to be graded by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.data.highlights import Spans, intersect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focuseval.collection.rendering import Document

GRADES = ("?", "1", "2")
"""Lowest first: too small, somewhat, highly exhaustive."""


def relevant_rows(document: Document, highlights: Spans) -> list[int]:
    """Return the rows of the elements that hold highlighted text, in document order."""
    return [
        row
        for row, element in enumerate(document.elements)
        if element.start < element.end and intersect(highlights, ((element.start, element.end),))
    ]


def inferred(document: Document, grades: Mapping[str, str]) -> dict[str, str]:
    """Return every grade that holds: those given, and those that rise from below.

    >>> from focuseval.collection.rendering import Document, Element
    >>> page = Document("d", "ab", (Element("/a[1]", "a", 0, 2, -1), Element("/a[1]/p[1]", "p", 0, 1, 0)))
    >>> inferred(page, {"/a[1]/p[1]": "2"})
    {'/a[1]/p[1]': '2', '/a[1]': '2'}
    """
    effective: dict[str, str] = {}
    for path, grade in grades.items():
        row = document.row_of.get(path, -1)
        while row >= 0:
            element = document.elements[row]
            known = effective.get(element.path)
            if known is not None and GRADES.index(known) >= GRADES.index(grade):
                break
            effective[element.path] = grade
            row = element.parent
    return effective


def ungraded(document: Document, highlights: Spans, grades: Mapping[str, str]) -> list[str]:
    """Return the paths that still need a grade before the document can be finished."""
    known = inferred(document, grades)
    paths = (document.elements[row].path for row in relevant_rows(document, highlights))
    return [path for path in paths if path not in known]
