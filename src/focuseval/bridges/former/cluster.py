"""``focuseval.cluster`` of 0.2.0, now `focuseval.engine.cluster`."""

from focuseval.engine.cluster import connected as connected
