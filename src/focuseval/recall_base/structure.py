"""Strict reading of structure (SCAS, 2002–03): only what the topic's query asks for can be relevant."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focuseval.gold import Gold, GradedElements


def strict_gold(gold: Gold, queries: Mapping[str, Any]) -> Gold:
    """Return the gold with only those assessed elements that match the target of their topic's query strictly.

    `queries` maps topics to parsed NEXI queries (anything with ``matches(paths, "strict")``); a topic without a
    query asks for no structure and keeps no element.
    """
    kept = np.zeros(len(gold.elements.topic), np.bool_)
    for code, name in enumerate(gold.topics):
        if name in queries:
            rows = np.flatnonzero(gold.elements.topic == code)
            kept[rows] = queries[name].matches(gold.elements.path.take(rows), "strict")
    return replace(gold, elements=_select(gold.elements, kept))


def _select(elements: GradedElements, kept: Any) -> GradedElements:
    """Return some rows of all columns."""
    rows = np.flatnonzero(kept)
    columns = {f.name: getattr(elements, f.name) for f in fields(elements)}
    return replace(elements, **{name: column.take(rows) for name, column in columns.items() if column is not None})
