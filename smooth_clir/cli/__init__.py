"""The command line: one file a command, and what a person sees."""
