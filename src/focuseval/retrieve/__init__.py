"""Retrieve: a baseline run from any collection and its topics, BM25 over elements, documents or passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.callable_module import call_by_name
from focuseval.lazy import attributes

if TYPE_CHECKING:
    from focuseval.retrieve.retrieving import retrieve
    from focuseval.retrieve.searching import Hit, search
    from focuseval.retrieve.settings import RetrievalSettings
    from focuseval.retrieve.unit_list import UnitList, units

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

call_by_name(__name__)
