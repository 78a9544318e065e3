"""Views of detection: its tables, and its page."""
