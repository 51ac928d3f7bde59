"""TrainedBaseline: the ranking of a trained model that the run's own model is to be compared with."""
