"""Configuration, the pipeline, the identity of its stages, and its runners."""
