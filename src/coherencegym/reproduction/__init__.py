"""Tables of papers computed again: what is needed is built and run, and stands beside them."""
