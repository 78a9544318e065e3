"""The command line: one module a subcommand, which parses, calls and prints."""
