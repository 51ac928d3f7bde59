"""Optimizers for tables of word embeddings."""
