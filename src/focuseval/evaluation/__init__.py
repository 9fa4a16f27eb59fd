"""Runs × measures → an `Evaluation`, whose values are `Scores`, with the counts that belong beside every mean."""
