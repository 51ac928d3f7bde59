"""LexicalBaseline: BM25 without translation, the floor that shared names and numbers give."""
