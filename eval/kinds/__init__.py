"""Rows of a dataset: items with regions and formulas, documents with an intruder."""
