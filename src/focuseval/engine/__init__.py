"""Compiled code, workers, object storage, compression, the version: knows nothing of retrieval."""
