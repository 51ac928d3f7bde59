"""Experiments: a grid of settings over one prepared data set, its cells, and their report."""
