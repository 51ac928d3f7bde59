"""Tests of `models.encoders`."""
