"""What a run will take, before it begins: see `estimate_run`."""
