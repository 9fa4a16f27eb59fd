"""The whole loop on the embedded example, step by step."""
