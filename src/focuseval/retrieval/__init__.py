"""Retrieve: a baseline run from any collection and its topics, BM25 over elements, documents or passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.retrieval.retrieving import retrieve
    from focuseval.retrieval.searching import Hit, search
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.unit_list import UnitList, units

__all__ = ["Hit", "RetrievalSettings", "UnitList", "retrieve", "search", "units"]

__getattr__ = attributes(
    __name__,
    {
        "Hit": "searching",
        "RetrievalSettings": "settings",
        "UnitList": "unit_list",
        "retrieve": "retrieving",
        "search": "searching",
        "units": "unit_list",
    },
)
