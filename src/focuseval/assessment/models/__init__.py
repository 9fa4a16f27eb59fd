"""A language model as one more assessor, and how far any assessor, person or model, can be trusted."""
