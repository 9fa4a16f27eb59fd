"""Texts in one document: every place of each, by exact search, in normal form, or by the fewest edits.

`focuseval.place` puts the texts of runs and the quotes of golds where they stand; this package does the search, in one
document at a time.
"""
