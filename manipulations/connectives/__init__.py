"""Operators on connectives."""
