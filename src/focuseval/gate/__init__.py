"""Stop a regression in CI: a run against a baseline, over the same topics of the same gold."""

from focuseval.gate.baseline import Baseline, read_baseline
from focuseval.gate.verdict import Rule, Verdict, judge

__all__ = ["Baseline", "Rule", "Verdict", "judge", "read_baseline"]
