"""Engines: one function over many blocks, in this process, in several, or on a cluster."""
