"""Judge pooled documents: rules, store and web app of the assessment server."""
