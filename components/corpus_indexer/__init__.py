"""CorpusIndexer: an exported model and a collection make an index, in which every document can be found."""
