"""Rankers: scorers, which are the channels of a score, and their weighted sum."""
