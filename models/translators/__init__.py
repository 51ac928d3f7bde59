"""Machine translators, whose translations of a collection teach its lexicon."""
