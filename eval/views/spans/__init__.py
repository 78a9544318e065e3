"""Views of the results of span coherence."""
