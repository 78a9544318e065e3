"""Minimal pairs: predictions judged and summed up."""
