"""Minimal pairs: predictions evaluated and summed up."""
