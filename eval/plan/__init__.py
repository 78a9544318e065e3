"""What goes through a model together: pure Python, nothing is run."""
