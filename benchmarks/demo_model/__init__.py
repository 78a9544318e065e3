"""How the demo model was made: its text and its training."""
