"""Compare runs: significance matrices, pairs with intervals, rank correlations between ways of scoring."""

from focuseval.evaluation.comparison.variants import AXES, Correlation, correlations, variants

__all__ = ["AXES", "Correlation", "correlations", "variants"]
