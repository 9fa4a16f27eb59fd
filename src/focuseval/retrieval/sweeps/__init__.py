"""Sweep: chunkers × retrieval × measures, to find the chunking that serves best, and what it costs."""
