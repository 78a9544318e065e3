"""Reports as values: tables, figures, lists of texts."""
