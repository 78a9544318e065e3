"""Right for the right parts: what a model says of a text and of each of its spans."""
