"""The lexicon: translations of stems learned from pairs of texts, and the score that they give."""
