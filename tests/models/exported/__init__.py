"""Tests of `models.exported`."""
