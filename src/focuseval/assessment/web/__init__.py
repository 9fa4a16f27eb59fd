"""The assessment server's pages and interface, for browsers on this machine or, with users, on a network."""

from focuseval.assessment.web.app import create_app
from focuseval.assessment.web.desk import Access

__all__ = ["Access", "create_app"]
