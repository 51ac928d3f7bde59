"""Reads the dumps of two wikis and makes a collection of them; no tensor and no TFX stage."""
