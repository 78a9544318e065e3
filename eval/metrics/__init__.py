"""Metrics of the outcomes of units, one a module."""
