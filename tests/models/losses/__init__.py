"""Tests of `models.losses`."""
