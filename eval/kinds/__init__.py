"""What a row of a dataset is: items with regions and formulas, documents with an intruder."""
