"""Keras losses, one a file."""
