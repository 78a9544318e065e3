"""Probes: classifiers of a model's vectors, which show what its layers know of the labels."""
