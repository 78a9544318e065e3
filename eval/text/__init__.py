"""From text to tokens: offsets, regions, separators, what is read."""
