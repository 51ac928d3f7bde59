"""Metrics of ranked lists and of searches, and tests of their differences."""
