"""Encoders fine-tuned to find intruders."""
