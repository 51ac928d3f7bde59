"""Tests of `models.lexicon`."""
