"""The builders' command line."""
