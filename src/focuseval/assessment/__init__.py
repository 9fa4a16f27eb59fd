"""Judge pooled documents: rules, store and web app of the assessment server, and its judgements as gold."""

from focuseval.assessment.golds import build_gold, project_gold
from focuseval.assessment.project import Project, is_project, open_project
from focuseval.assessment.store import ADJUDICATED, Key, Saved, Store

__all__ = [
    "ADJUDICATED",
    "Key",
    "Project",
    "Saved",
    "Store",
    "build_gold",
    "is_project",
    "open_project",
    "project_gold",
]
