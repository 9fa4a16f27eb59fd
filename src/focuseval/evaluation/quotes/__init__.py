"""Quotations in generated answers, checked against the documents that they are said to come from."""
