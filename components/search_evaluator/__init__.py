"""SearchEvaluator: the metrics of the test queries where every document of the collection is a candidate."""
