"""Texts of the user's own, plain or annotated, as a corpus."""
