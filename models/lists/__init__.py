"""Query lists as tables, and batches of them for training."""
