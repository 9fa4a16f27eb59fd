"""Documents as text with exact offsets, and every element's path and span: build an index, open it, ask it."""
