"""The rooms of :mod:`builders.span_coherence`: what is asked of spans, and how gold is made."""
