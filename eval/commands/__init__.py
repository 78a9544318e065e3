"""The command line: its subcommands, which parse, call and print."""
