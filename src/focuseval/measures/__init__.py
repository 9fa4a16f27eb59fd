"""One module per family; `MEASURES`, the explicit tuple; `parse`, from a name to what was asked.

A family is imported when one of its names is first asked for: a run that is scored by AP alone does not wait for the
element measures. `FAMILIES` says which module declares which names; a test holds it against the declarations.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from focuseval.measures.measure import Asked, Budget, Measure, Parameter
from focuseval.measures.names import parse

if TYPE_CHECKING:
    MEASURES: tuple[Measure, ...]

__all__ = ["FAMILIES", "MEASURES", "Asked", "Budget", "Measure", "Parameter", "family", "parse"]

FAMILIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("xcg", "MEASURES", ("MAep", "iMAep", "ep", "gr", "xCG", "xCI")),
    ("nxcg", "MEASURES", ("nxCG", "MAnxCG")),
    ("fetch_browse", "MEASURES", ("browseMAep",)),
    ("generalised", "GENERALISED", ("gP", "gR", "MAgP", "AgP")),
    ("tolerance", "TOLERANCE", ("T2I",)),
    ("entry_point", "ENTRY_POINT", ("BEPD",)),
    ("eprum", "EPRUM", ("EPRUM", "EPRUM-P")),
    ("prum", "MEASURES", ("PRUM", "ERRel")),
    ("hixeval", "HIXEVAL", ("hP", "hR", "hF", "hAP")),
    (
        "characters",
        "CHARACTERS",
        ("iP", "MAiP", "AiP", "charP", "charR", "charF", "artP", "artR", "artF"),
    ),
    ("i2", "MEASURES", ("i2AP",)),
    ("i3", "MEASURES", ("i3AP",)),
    ("documents", "DOCUMENTS", ("P", "R", "AP", "MAP", "RR", "MRR", "nDCG", "Rprec")),
    ("spans", "RAG", ("spanP", "spanR", "spanF", "IoU", "hit", "full", "spanRR", "spanNDCG")),
    ("ceiling", "CEILING", ("ceiling",)),
)
"""Module, the tuple in it, and the names that it declares, in the order of the documentation."""


def family(module: str, constant: str) -> tuple[Measure, ...]:
    """Return the measures of one family."""
    declared: tuple[Measure, ...] = getattr(import_module(f"focuseval.measures.{module}"), constant)
    return declared


def __getattr__(name: str) -> Any:
    """Make `MEASURES`, every measure in the order of the documentation, when it is first asked for."""
    if name != "MEASURES":
        raise AttributeError(f"module 'focuseval.measures' has no attribute {name!r}")
    measures = tuple(measure for module, constant, _ in FAMILIES for measure in family(module, constant))
    globals()["MEASURES"] = measures
    return measures
