"""Query lists as tables, and the batches that a training reads of them."""
