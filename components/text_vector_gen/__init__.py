"""TextVectorGen: the vectors of a pre-trained encoder, one for each distinct text."""
