"""What came of a run: gathered, saved, read back, compared."""
