"""Tests of `models.layers`."""
