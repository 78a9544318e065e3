"""A plan run through a model: ways to share beginnings, trials, precision, processes, the cache."""
