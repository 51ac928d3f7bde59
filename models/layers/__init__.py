"""Keras layers, one a file."""
