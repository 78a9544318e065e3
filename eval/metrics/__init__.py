"""What outcomes of units come to: one metric a module."""
