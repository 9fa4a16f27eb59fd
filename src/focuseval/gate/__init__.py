"""Stop a regression in CI: a run against a baseline, over the same topics of the same gold."""

from focuseval.gate.baseline import Baseline, read_baseline
from focuseval.gate.verdict import GateRule, GateVerdict, judge

__all__ = ["Baseline", "GateRule", "GateVerdict", "judge", "read_baseline"]
