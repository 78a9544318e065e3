"""The configs of the suite ``discourse_tasks``, and the drafters that make their rows."""
