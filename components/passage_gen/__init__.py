"""PassageGen: the documents of a collection, split into passages."""
