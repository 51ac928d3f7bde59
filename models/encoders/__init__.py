"""Pre-trained text encoders: their kinds, files of their vectors, and the channel of their cosine."""
