"""The lexicon: translations of stems learned from pairs of texts, and scores by them."""
