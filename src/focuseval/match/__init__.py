"""Run × gold → one table of matched results, all topics at once; every policy is decided here."""

from focuseval.chunks.columns import Chunks
from focuseval.match.matched import Matched
from focuseval.match.matching import match
from focuseval.match.policies import Policies
from focuseval.match.prepared import Prepared, prepare

__all__ = ["Chunks", "Matched", "Policies", "Prepared", "match", "prepare"]
