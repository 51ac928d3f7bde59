"""TrainingReport: what a training, and a search before it, came to, for people."""
