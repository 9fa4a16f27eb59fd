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

FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("xcg", ("MAep", "iMAep", "ep", "gr", "xCG", "xCI")),
    ("nxcg", ("nxCG", "MAnxCG")),
    ("fetch_browse", ("browseMAep",)),
    ("generalised", ("gP", "gR", "MAgP", "AgP")),
    ("tolerance", ("T2I",)),
    ("entry_point", ("BEPD",)),
    ("eprum", ("EPRUM", "EPRUM-P")),
    ("prum", ("PRUM", "ERRel")),
    ("hixeval", ("hP", "hR", "hF", "hAP")),
    ("characters", ("iP", "MAiP", "AiP", "charP", "charR", "charF", "artP", "artR", "artF")),
    ("i2", ("i2AP",)),
    ("i3", ("i3AP",)),
    (
        "documents",
        (
            *("P", "Precision", "precision", "R", "Recall", "recall", "AP", "MAP", "map", "RR", "MRR", "mrr"),
            *("nDCG", "NDCG", "ndcg", "Rprec", "Success", "HitRate", "hit_rate"),
        ),
    ),
    ("spans", ("spanP", "spanR", "spanF", "IoU", "hit", "full", "spanRR", "spanNDCG")),
    ("needs", ("needR", "S-recall", "SRecall", "all-recall", "AllRecall", "AllFound")),
    ("ceiling", ("ceiling",)),
)
"""Module and the names that its tuple ``MEASURES`` declares, in the order of the documentation."""


def family(module: str) -> tuple[Measure, ...]:
    """Return the measures of one family."""
    declared: tuple[Measure, ...] = import_module(f"focuseval.measures.{module}").MEASURES
    return declared


def __getattr__(name: str) -> Any:
    """Make `MEASURES`, every measure in the order of the documentation, when it is first asked for."""
    if name != "MEASURES":
        raise AttributeError(f"module 'focuseval.measures' has no attribute {name!r}")
    measures = tuple(measure for module, _ in FAMILIES for measure in family(module))
    globals()["MEASURES"] = measures
    return measures
