"""A stand-in for the Hugging Face Hub on the loopback interface, and its portal."""
