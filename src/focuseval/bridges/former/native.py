"""``focuseval.native`` of 0.2.0, now `focuseval.engine.native`."""

from focuseval.engine.native import library as library
