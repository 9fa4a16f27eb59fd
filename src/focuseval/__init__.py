"""Evaluate focused retrieval: XML elements, passages and RAG chunks against highlighted text.

Everything public is one attribute of this package, imported when it is first used, so that
``import focuseval`` costs nothing.
"""

from __future__ import annotations

from focuseval.lazy import attributes

__version__ = "0.2.0"

_PUBLIC = {
    "FocusevalError": "errors",
    "Index": "collection",
    "IndexedDocument": "collection",
    "Elements": "collection",
    "build_index": "collection",
    "open_documents": "formats.embedded",
    "open_index": "collection",
    "read_topics": "topics",
    "parse_nexi": "topics",
    "Gold": "gold",
    "Run": "run",
    "repair": "task",
    "check": "task",
    "align_chunks": "place",
    "align_gold": "place",
    "align_run": "place",
    "read_gold": "formats",
    "read_run": "formats",
    "write_run": "formats",
    "write_gold": "formats",
    "Chunks": "chunks",
    "chunk": "chunks",
    "retrieve": "retrieve",
    "search": "retrieve",
    "units": "retrieve",
    "evaluate": "evaluate",
    "Scores": "evaluate",
    "build_report": "report",
    "render_html": "report",
    "sweep": "sweep",
    "build_pool": "pool",
    "read_pool": "pool",
    "project_gold": "assess",
    "simulate": "simulate",
    "fidelity": "fidelity",
    "heat_map": "heat",
    "verify_quotes": "quotes",
    "ModelSettings": "judge",
    "Prompt": "judge",
    "judge_project": "judge",
    "project_trust": "judge",
    "Measure": "measures",
    "Parameter": "measures",
    "MEASURES": "measures",
    "parse": "measures",
}
"""Name → module, in the order of the documentation."""

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604  the names are strings of the dictionary above


__getattr__ = attributes(__name__, _PUBLIC)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
