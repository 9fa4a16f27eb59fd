"""Tasks, recall bases, matching, and the families of measures, which `focuseval.measures.catalogue` lists."""

from focuseval.measures.measure import Budget, Measure, MeasureCall, Parameter, parse

__all__ = ["Budget", "Measure", "MeasureCall", "Parameter", "parse"]
