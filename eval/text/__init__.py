"""Text to tokens: offsets, regions, separators, what is read."""
