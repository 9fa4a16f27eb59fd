"""``focuseval.recall_base`` of 0.2.0, now `focuseval.measures.recall_base`."""

from focuseval.measures.recall_base import assessed_elements as assessed_elements
