"""Text as corpora have it: detokenised, split, excerpted."""
