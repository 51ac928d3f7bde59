"""Tests of `models.tuning`."""
