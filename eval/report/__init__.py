"""What a report is made of: tables, figures, lists of texts."""
