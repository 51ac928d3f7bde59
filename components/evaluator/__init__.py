"""Evaluator: the paper's metrics of the exported model on the test split, and the baselines."""
