"""One module for each corpus, or a folder where it has several sides."""
