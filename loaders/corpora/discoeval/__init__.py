"""DiscoEval: documents, rows with a label, and pairs of units with a relation."""
