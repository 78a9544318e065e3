"""The configs of the suite ``discourse_tasks``, and the item generators that make their rows."""
