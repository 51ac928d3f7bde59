"""Tests of `models.optimizers`."""
