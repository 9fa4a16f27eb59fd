"""``focuseval.recall_base`` of 0.2.0, now `focuseval.measures.assessed`."""

from focuseval.measures.assessed import assessed_elements

__all__ = ["assessed_elements"]
