"""The largest number that a parameter, a cut-off, a budget or a policy takes."""

MOST = 10**9
"""What is larger is a slip, or does not fit into the sums that it becomes part of."""
