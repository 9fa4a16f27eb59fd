"""Tokens of a language model: where each one lies in a text, by the model's own tokenizer."""

from __future__ import annotations

from focuseval.collection.tokens.remembered import remembered
from focuseval.collection.tokens.tokenizer import Tokenizer, open_tokenizer

__all__ = ["Tokenizer", "open_tokenizer", "remembered"]
