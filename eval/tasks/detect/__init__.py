"""Documents: which sentence does not belong there."""
