"""WikipediaGen: a collection from the dumps of two wikis."""
