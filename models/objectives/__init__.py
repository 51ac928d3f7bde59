"""Training objectives: a ranker and the loss that its training minimises."""
