"""Estimates the time, memory and disk of a run before it begins: see `estimate_run`."""
