"""IndexPusher: puts an index beside the models that are served, as a version that appears whole."""
