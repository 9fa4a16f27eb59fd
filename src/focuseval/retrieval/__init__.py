"""A baseline run from any collection and its topics: BM25 over elements, documents or passages."""
