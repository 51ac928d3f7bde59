"""Names of the features in a listwise `tf.train.Example`; each example is a query with its list of documents.

The prefix shows what a feature describes: `query_` the list's query, `doc_` a document whatever its list, and all
others a document within this list. A list has a single value of a query feature, and a value per document of all
others.
"""

from typing import Final

QUERY_ID: Final = "query_id"
QUERY_TEXT: Final = "query_text"
QUERY_TITLE: Final = "query_title"
QUERY_DOMAIN: Final = "query_domain"
"""Name of the query's domain (see `schemas.domains`), empty where the collection has none; in a batch of several
domains, the domain's number."""
QUERY_LANG: Final = "query_lang"
DOC_LANG: Final = "doc_lang"
"""The code of a text's language, in examples of a collection whose queries, or documents, are in several languages."""
DOC_ID: Final = "doc_id"
DOC_TEXT: Final = "doc_text"
DOC_TITLE: Final = "doc_title"
RELEVANCE: Final = "relevance"
NEGATIVE_PLACE: Final = "negative_place"
"""Position, from 0, of an NR document in the order of drawing, or of the candidates file; -1 for judged documents,
which `data.used_negatives` never leaves out."""

INTEGERS: Final = (RELEVANCE, NEGATIVE_PLACE)
"""The features that are int64; any other is UTF-8."""

WITHOUT_TITLES: Final = (QUERY_ID, QUERY_DOMAIN, QUERY_TEXT, DOC_ID, DOC_TEXT, RELEVANCE, NEGATIVE_PLACE)
"""The features that models, baselines and statistics may read. Titles are only shown: in WikiCLIR they give the answer
away."""

QUERY_TOKENS: Final = "query_tokens"
DOC_TOKENS: Final = "doc_tokens"
"""Vocabulary ids, made by Transform, without words outside the vocabulary."""

QUERY_STEMS: Final = "query_stems"
DOC_STEMS: Final = "doc_stems"
"""Ids of the words' stems in separate vocabularies, also of words outside the vocabulary of words."""

IDS: Final = (QUERY_TOKENS, DOC_TOKENS, QUERY_STEMS, DOC_STEMS)
"""The features that hold vocabulary ids."""

QUERY_VECTOR: Final = "query_vector"
DOC_VECTOR: Final = "doc_vector"
"""Vectors of a pre-trained encoder, float [dim] (see `models.encoders`)."""

DOCUMENT_INDEX: Final = "document_index"
"""In a batch: the row of the document columns at each place of each list; negative marks padding."""

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
"""The feature of each vocabulary's ids."""

STEMS_OF_VOCABULARY: Final = {QUERY_VOCABULARY: QUERY_STEM_VOCABULARY, DOCUMENT_VOCABULARY: DOCUMENT_STEM_VOCABULARY}
"""The vocabulary of the stems of each vocabulary's words."""

COUNTS_OF_VOCABULARY: Final = {QUERY_VOCABULARY: "query_word_counts", DOCUMENT_VOCABULARY: "document_word_counts"}
"""Names of the files with all words of the train split, lines of `count word`; written for pre-trained vectors only."""


def fixed_score(channel: str) -> str:
    """Returns the list column with the scores of a channel that training does not change."""
    return f"fixed_score_{channel}"


def is_of_query(name: str) -> bool:
    """Whether a feature belongs to the list's query."""
    return name.startswith("query_")


def is_of_document(name: str) -> bool:
    """Whether a feature belongs to a document, whatever its list."""
    return name.startswith("doc_")
