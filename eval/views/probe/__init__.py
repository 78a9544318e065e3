"""Views of the results of a probe."""
