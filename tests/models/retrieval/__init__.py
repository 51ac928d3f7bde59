"""Tests of `models.retrieval`."""
