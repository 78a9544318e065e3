"""Sample logs of other evaluators, as results that are compared."""
