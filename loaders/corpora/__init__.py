"""One module for each corpus."""
