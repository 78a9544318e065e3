"""Results on the Hub: pushed, with a card, or as a model's own index."""
