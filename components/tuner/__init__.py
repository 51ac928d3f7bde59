"""Tuner that also keeps the trials that failed."""
