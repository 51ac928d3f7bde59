"""Rankers: scorers, the channels of one score, and their weighted sum."""
