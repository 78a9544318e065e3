"""Two runs against each other, as a page."""
