"""Machine translators; a lexicon is learned from their translations of the collection."""
