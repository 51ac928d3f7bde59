"""Tests of `models.rankers`."""
