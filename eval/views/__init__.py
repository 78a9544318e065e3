"""Results as people see them: terminal, page, notebook, plots."""
