"""Measures as the object of study: simulated runs, and what a measure makes of them."""
