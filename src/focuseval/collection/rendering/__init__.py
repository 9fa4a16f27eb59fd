"""A document as people read it: its text, elements, blocks and title."""
