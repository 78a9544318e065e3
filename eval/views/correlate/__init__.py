"""The findings of ``correlate``, as a table and as a page."""
