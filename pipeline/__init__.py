"""Configuration, the pipeline, its runners and the command line."""
