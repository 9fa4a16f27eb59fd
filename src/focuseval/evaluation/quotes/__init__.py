"""Quotations in generated answers, checked against the documents that they are said to come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.engine.lazy import attributes

if TYPE_CHECKING:
    from focuseval.evaluation.quotes.answers import Quotation
    from focuseval.evaluation.quotes.checking import verify_quotes
    from focuseval.evaluation.quotes.report import CheckedQuotes

__all__ = ["CheckedQuotes", "Quotation", "verify_quotes"]

__getattr__ = attributes(__name__, {"CheckedQuotes": "report", "Quotation": "answers", "verify_quotes": "checking"})
