"""Tests of `smooth_clir`."""
