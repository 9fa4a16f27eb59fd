"""Evaluate focused retrieval: XML elements, passages and RAG chunks against highlighted text.

Everything public is one attribute of this package, imported when it is first used, so that
``import focuseval`` costs nothing.
"""

from __future__ import annotations

from focuseval.engine.lazy import attributes
from focuseval.engine.version import __version__

_PUBLIC = {
    "FocusevalError": "errors",
    "Index": "collection",
    "IndexedDocument": "collection",
    "Elements": "collection",
    "build_index": "collection",
    "open_documents": "formats.embedded",
    "open_index": "collection",
    "read_topics": "data.topics",
    "parse_nexi": "data.topics",
    "Gold": "data.gold",
    "Run": "data.run",
    "repair": "measures.tasks",
    "check": "measures.tasks",
    "align_chunks": "placing",
    "align_gold": "placing",
    "align_run": "placing",
    "read_gold": "formats",
    "read_run": "formats",
    "write_run": "formats",
    "write_gold": "formats",
    "Chunks": "collection.chunks",
    "chunk": "formats.chunks",
    "retrieve": "retrieval",
    "search": "retrieval",
    "units": "retrieval",
    "evaluate": "evaluation.planning",
    "Scores": "evaluation.scores",
    "assert_no_regression": "bridges.testing",
    "build_report": "report.build",
    "render_html": "report.page",
    "sweep": "retrieval.sweeps.sweeping",
    "connected": "engine.cluster",
    "build_pool": "assessment.pool",
    "read_pool": "assessment.pool",
    "project_gold": "assessment",
    "simulate": "studies.simulation",
    "fidelity": "studies.fidelity",
    "heat_map": "report.heat",
    "verify_quotes": "evaluation.quotes.checking",
    "ModelSettings": "assessment.models",
    "Prompt": "assessment.models",
    "judge_project": "assessment.models",
    "project_trust": "assessment.models",
    "Measure": "measures",
    "Parameter": "measures",
    "MEASURES": "measures",
    "parse": "measures",
}
"""Name → module, in the order of the documentation."""

_OPTIONAL = {"connected"}
"""What needs an optional package: ``from focuseval import *`` leaves it out."""

__all__ = ["__version__", *(name for name in _PUBLIC if name not in _OPTIONAL)]  # noqa: PLE0604  strings of the dictionary above

__path__.append(f"{__path__[0]}/bridges/former")  # import paths of 0.2.0 whose modules have moved

__getattr__ = attributes(__name__, _PUBLIC)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*__all__, *_PUBLIC})
