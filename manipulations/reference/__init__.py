"""Operators on mentions: repetition, substitution."""
