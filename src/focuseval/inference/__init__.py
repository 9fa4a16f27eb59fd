"""Is a difference real: significance, intervals, effect sizes, rank correlation, agreement."""
