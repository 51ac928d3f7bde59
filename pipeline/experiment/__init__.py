"""Experiments: a grid of settings over one prepared data set."""
