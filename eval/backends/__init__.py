"""The libraries that run language models, a module each."""
