"""Plans of what goes through a model together: pure Python, nothing is run."""
