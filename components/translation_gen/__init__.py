"""TranslationGen: translations of a collection's texts, pairs for the lexicon."""
