"""Pre-trained text encoders: the kinds of encoders, the vectors of texts in files, and the channel of their cosine."""
