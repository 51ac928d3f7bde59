"""The rankers that Polynomial Semantic Indexing was measured against (Bai et al. 2009, section 4)."""
