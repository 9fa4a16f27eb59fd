"""Evaluate focused retrieval: XML elements, passages and RAG chunks against highlighted text.

Everything public is one attribute of this package, imported when it is first used, so that
``import focuseval`` costs nothing. Type checkers and editors read the imports below instead.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from focuseval.engine.version import __version__

if TYPE_CHECKING:
    from focuseval.assessment.golds import project_gold as project_gold
    from focuseval.assessment.models.client import ModelSettings as ModelSettings
    from focuseval.assessment.models.judging import judge_project as judge_project
    from focuseval.assessment.models.prompt import Prompt as Prompt
    from focuseval.assessment.models.trust import project_trust as project_trust
    from focuseval.assessment.pool import build_pool as build_pool
    from focuseval.assessment.pool import read_pool as read_pool
    from focuseval.bridges.testing import assert_no_regression as assert_no_regression
    from focuseval.collection.build import build_index as build_index
    from focuseval.collection.chunks import Chunks as Chunks
    from focuseval.collection.index import Elements as Elements
    from focuseval.collection.index import Index as Index
    from focuseval.collection.index import IndexedDocument as IndexedDocument
    from focuseval.collection.store import open_index as open_index
    from focuseval.data.gold import Gold as Gold
    from focuseval.data.run import Run as Run
    from focuseval.data.topics.parser import parse_nexi as parse_nexi
    from focuseval.data.topics.reader import read_topics as read_topics
    from focuseval.engine.cluster import connected as connected
    from focuseval.errors import FocusevalError as FocusevalError
    from focuseval.evaluation.estimating import Estimates as Estimates
    from focuseval.evaluation.estimating import estimate as estimate
    from focuseval.evaluation.evaluation import evaluate as evaluate
    from focuseval.evaluation.quotes import verify_quotes as verify_quotes
    from focuseval.evaluation.scores import Scores as Scores
    from focuseval.formats.chunks import chunk as chunk
    from focuseval.formats.convert import write_gold as write_gold
    from focuseval.formats.convert import write_run as write_run
    from focuseval.formats.embedded import open_documents as open_documents
    from focuseval.formats.files import read_gold as read_gold
    from focuseval.formats.files import read_run as read_run
    from focuseval.measures.catalogue import MEASURES as MEASURES
    from focuseval.measures.checks import check as check
    from focuseval.measures.checks import repair as repair
    from focuseval.measures.measure import Measure as Measure
    from focuseval.measures.measure import Parameter as Parameter
    from focuseval.measures.measure import parse as parse
    from focuseval.placing.place import align_gold as align_gold
    from focuseval.placing.place import align_run as align_run
    from focuseval.placing.texts import align_chunks as align_chunks
    from focuseval.report.build import build_report as build_report
    from focuseval.report.heat import heat_map as heat_map
    from focuseval.report.page import render_html as render_html
    from focuseval.retrieval.fusion import fuse as fuse
    from focuseval.retrieval.retrieving import retrieve as retrieve
    from focuseval.retrieval.retrieving import search as search
    from focuseval.retrieval.retrieving import units as units
    from focuseval.retrieval.sweeping import sweep as sweep
    from focuseval.studies.fidelity import fidelity as fidelity
    from focuseval.studies.simulation import simulate as simulate

_PUBLIC = {
    "FocusevalError": "errors",
    "Index": "collection.index",
    "IndexedDocument": "collection.index",
    "Elements": "collection.index",
    "build_index": "collection.build",
    "open_documents": "formats.embedded",
    "open_index": "collection.store",
    "read_topics": "data.topics.reader",
    "parse_nexi": "data.topics.parser",
    "Gold": "data.gold",
    "Run": "data.run",
    "repair": "measures.checks",
    "check": "measures.checks",
    "align_chunks": "placing.texts",
    "align_gold": "placing.place",
    "align_run": "placing.place",
    "read_gold": "formats.files",
    "read_run": "formats.files",
    "write_run": "formats.convert",
    "write_gold": "formats.convert",
    "Chunks": "collection.chunks",
    "chunk": "formats.chunks",
    "retrieve": "retrieval.retrieving",
    "search": "retrieval.retrieving",
    "units": "retrieval.retrieving",
    "fuse": "retrieval.fusion",
    "evaluate": "evaluation.evaluation",
    "Scores": "evaluation.scores",
    "estimate": "evaluation.estimating",
    "Estimates": "evaluation.estimating",
    "assert_no_regression": "bridges.testing",
    "build_report": "report.build",
    "render_html": "report.page",
    "sweep": "retrieval.sweeping",
    "connected": "engine.cluster",
    "build_pool": "assessment.pool",
    "read_pool": "assessment.pool",
    "project_gold": "assessment.golds",
    "simulate": "studies.simulation",
    "fidelity": "studies.fidelity",
    "heat_map": "report.heat",
    "verify_quotes": "evaluation.quotes",
    "ModelSettings": "assessment.models.client",
    "Prompt": "assessment.models.prompt",
    "judge_project": "assessment.models.judging",
    "project_trust": "assessment.models.trust",
    "Measure": "measures.measure",
    "Parameter": "measures.measure",
    "MEASURES": "measures.catalogue",
    "parse": "measures.measure",
}
"""Name → module that defines it, in the order of the documentation; a test compares it with the imports above."""

_OPTIONAL = {"connected"}  # what needs an optional package: ``from focuseval import *`` leaves it out

__all__ = ["__version__", *(name for name in _PUBLIC if name not in _OPTIONAL)]  # noqa: PLE0604  strings of the dictionary above

__path__.append(f"{__path__[0]}/bridges/former")  # import paths of 0.2.0 whose modules have moved

if not TYPE_CHECKING:  # a type checker would take every name for one of these

    def __getattr__(name: str) -> Any:
        """Import a public name from its module, once."""
        if name not in _PUBLIC:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name))


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*__all__, *_PUBLIC})
