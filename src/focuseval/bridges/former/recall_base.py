"""``focuseval.recall_base`` of 0.2.0, now `focuseval.measures.assessed`."""

from focuseval.measures.assessed import assessed_elements as assessed_elements
