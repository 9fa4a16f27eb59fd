"""`MEASURES`: every measure, in the order of the documentation. Importing it imports all families."""

from focuseval.measures.measure import every_measure

MEASURES = every_measure()
