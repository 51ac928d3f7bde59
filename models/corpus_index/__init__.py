"""The index of a whole collection: vectors, words and texts, in segments, and the search in it."""
