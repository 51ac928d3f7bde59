"""Tests of `smooth_clir.retrieval`."""
