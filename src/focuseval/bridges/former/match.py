"""``focuseval.match`` of 0.2.0, now `focuseval.measures.matching`."""

from focuseval.measures.matching import match as match
