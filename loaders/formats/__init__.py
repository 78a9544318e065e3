"""File formats that corpora share."""
