"""Tables of trainings: scores of checkpoints step by step."""
