"""Models: found, loaded, placed, and what is known of them."""
