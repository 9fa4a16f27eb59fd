"""Judge pooled documents: rules, store and web app of the assessment server, and its judgements as gold."""

from focuseval.assessment.golds import project_gold
from focuseval.assessment.project import Project, open_project
from focuseval.assessment.store import Key

__all__ = ["Key", "Project", "open_project", "project_gold"]
