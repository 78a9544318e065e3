"""Languages as values: what is known of each is in its module."""
