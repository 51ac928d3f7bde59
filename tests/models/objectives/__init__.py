"""Tests of `models.objectives`."""
