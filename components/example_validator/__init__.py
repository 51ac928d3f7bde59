"""ExampleValidator that stops a run on an anomaly."""
