"""Tests of `models.lists`."""
