"""Tests of `models.texts`."""
