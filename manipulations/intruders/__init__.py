"""Sentences of other documents in the place of a document's own."""
