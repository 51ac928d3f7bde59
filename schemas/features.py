"""Names of the features in a listwise `tf.train.Example`: one example a query, which is a row of one table.

A feature's first word tells what it belongs to: `query_` to the list's query, `doc_` to a document, whatever list it
stands in, and any other to a document's place in one list. A list has one value of a query column, and of the others as
many as documents.
"""

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

INTEGERS: Final = (RELEVANCE, NEGATIVE_PLACE)
"""The features that are int64; any other is UTF-8."""

WITHOUT_TITLES: Final = (QUERY_ID, QUERY_TEXT, DOC_ID, DOC_TEXT, RELEVANCE, NEGATIVE_PLACE)
"""What models, baselines and statistics may read. Titles are for people: in WikiCLIR they give the answer away."""

QUERY_TOKENS: Final = "query_tokens"
DOC_TOKENS: Final = "doc_tokens"
"""Vocabulary ids, made by Transform; words outside the vocabulary are left out."""

QUERY_STEMS: Final = "query_stems"
DOC_STEMS: Final = "doc_stems"
"""Ids of the words' stems, likewise, in vocabularies of their own; a word outside its vocabulary keeps its stem."""

IDS: Final = (QUERY_TOKENS, DOC_TOKENS, QUERY_STEMS, DOC_STEMS)
"""The features that hold places in a vocabulary."""

DOCUMENT_INDEX: Final = "document_index"
"""In a batch: the row of the document columns at each place of each list; negative marks padding."""

WORD_SCORE: Final = "word_score"
"""A list column: the scores of the channel of words that match, computed once from the texts."""

QUERY_VOCABULARY: Final = "query_vocabulary"
DOCUMENT_VOCABULARY: Final = "document_vocabulary"
QUERY_STEM_VOCABULARY: Final = "query_stem_vocabulary"
DOCUMENT_STEM_VOCABULARY: Final = "document_stem_vocabulary"
"""Names of the vocabulary files in the transform graph."""

COLUMN_OF_VOCABULARY: Final = {
    QUERY_VOCABULARY: QUERY_TOKENS,
    DOCUMENT_VOCABULARY: DOC_TOKENS,
    QUERY_STEM_VOCABULARY: QUERY_STEMS,
    DOCUMENT_STEM_VOCABULARY: DOC_STEMS,
}
"""The feature that holds places in each vocabulary."""

STEMS_OF_VOCABULARY: Final = {QUERY_VOCABULARY: QUERY_STEM_VOCABULARY, DOCUMENT_VOCABULARY: DOCUMENT_STEM_VOCABULARY}
"""The vocabulary of the stems of each vocabulary's words."""

COUNTS_OF_VOCABULARY: Final = {QUERY_VOCABULARY: "query_word_counts", DOCUMENT_VOCABULARY: "document_word_counts"}
"""Where there are pre-trained vectors: files of all the train split's words, a line `count word` each."""

SPLITS: Final = ("train", "eval", "test")
SPLIT_SHARES: Final = (3, 1, 1)
"""The paper's split, by query (section 5)."""


def is_of_query(name: str) -> bool:
    """Whether a feature belongs to the list's query."""
    return name.startswith("query_")


def is_of_document(name: str) -> bool:
    """Whether a feature belongs to a document, whatever list it stands in."""
    return name.startswith("doc_")
