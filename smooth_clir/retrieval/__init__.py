"""Ranking and searching whole collections: BM25, inverted index, vectors, segments."""
