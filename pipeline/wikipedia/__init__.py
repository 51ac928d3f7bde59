"""`clir wikipedia` without its command line: a collection of dumps, as files for anyone."""
