"""The items of a run of score as its page shows them."""
