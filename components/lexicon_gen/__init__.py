"""LexiconGen: translations learned from the train pairs, and statistics of the collection."""
