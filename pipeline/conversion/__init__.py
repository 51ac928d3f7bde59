"""Other layouts of collections into files of ours: see `convert`."""
