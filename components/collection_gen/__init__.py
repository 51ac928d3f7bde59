"""CollectionGen: the input files, read once, as an artifact that every later stage reads."""
