"""Tensors: tokens, layers, losses, metrics, the ranker, its training and its export."""
