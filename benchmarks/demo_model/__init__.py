"""A ladder of small models: its texts, its training, and its scores as a picture."""
