"""LexicalBaseline: BM25 without translation: what shared names and numbers give."""
