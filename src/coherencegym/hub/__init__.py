"""The Hub's answers and errors, for whoever pushes to it."""
