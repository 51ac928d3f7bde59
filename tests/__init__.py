"""Tests, one folder a room; `reference.py` holds the formulas again in plain Python."""
