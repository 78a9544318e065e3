"""Runs of tasks: models on datasets, as Python and the shell ask for them."""
