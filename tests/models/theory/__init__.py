"""Tests of `models.theory`."""
