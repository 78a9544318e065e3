"""Results of runs: gathered, saved, read back, compared."""
