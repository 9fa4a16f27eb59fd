"""Run × gold → one table of matched results, all topics at once; every policy is decided here."""

from focuseval.collection.chunks import Chunks
from focuseval.measures.matching.matched import Matched, match
from focuseval.measures.matching.policies import Policies
from focuseval.measures.matching.prepared import Prepared, prepare

__all__ = ["Chunks", "Matched", "Policies", "Prepared", "match", "prepare"]
