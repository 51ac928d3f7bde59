"""Rivals: the rankers that Polynomial Semantic Indexing was measured against."""
