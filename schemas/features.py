"""Names of the features in a listwise `tf.train.Example`: one example a query, list features as long as its list."""

from typing import Final

QUERY_ID: Final = "query_id"
QUERY_TEXT: Final = "query_text"
QUERY_TITLE: Final = "query_title"
DOC_ID: Final = "doc_id"
DOC_TEXT: Final = "doc_text"
DOC_TITLE: Final = "doc_title"
RELEVANCE: Final = "relevance"
NEGATIVE_PLACE: Final = "negative_place"
"""Place, from 0, of a NR document in the order in which its list's were drawn, or stand in the candidates file; -1 for
documents that are judged, which no `data.used_negatives` leaves out."""

WITHOUT_TITLES: Final = (QUERY_ID, QUERY_TEXT, DOC_ID, DOC_TEXT, RELEVANCE, NEGATIVE_PLACE)
"""What models, baselines and statistics may read. Titles are for people: in WikiCLIR they give the answer away."""

QUERY_TOKENS: Final = "query_tokens"
DOC_TOKENS: Final = "doc_tokens"
"""Vocabulary ids, made by Transform; words outside the vocabulary are left out."""

QUERY_VOCABULARY: Final = "query_vocabulary"
DOCUMENT_VOCABULARY: Final = "document_vocabulary"
"""Names of the vocabulary files in the transform graph."""

COUNTS_OF_VOCABULARY: Final = {QUERY_VOCABULARY: "query_word_counts", DOCUMENT_VOCABULARY: "document_word_counts"}
"""Where there are pre-trained vectors: files of all the train split's words, a line `count word` each."""

SPLITS: Final = ("train", "eval", "test")
SPLIT_SHARES: Final = (3, 1, 1)
"""The paper's split, by query (section 5)."""
