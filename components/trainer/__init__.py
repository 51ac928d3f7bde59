"""Trainer: the run function that TFX's Trainer calls."""
