"""Training objectives: a ranker and the loss that it is trained towards."""
