"""Openly readable corpora fetched from where they are published."""
