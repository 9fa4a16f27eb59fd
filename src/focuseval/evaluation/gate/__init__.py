"""Stop a regression in CI: a run against a baseline, over the same topics of the same gold."""

from focuseval.evaluation.gate.baseline import Baseline, read_baseline
from focuseval.evaluation.gate.verdict import GateRule, GateVerdict, judge

__all__ = ["Baseline", "GateRule", "GateVerdict", "judge", "read_baseline"]
