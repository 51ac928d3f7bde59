"""The preprocessing function of Transform: texts to ids of one vocabulary a language."""

from typing import Any

import tensorflow as tf
import tensorflow_transform as tft

from models.tokens import tokenize
from schemas import features as f


def preprocessing_fn(inputs: dict[str, Any], custom_config: dict[str, Any]) -> dict[str, Any]:
    """Tokenises queries and documents and looks the words up.

    The vocabularies hold the most frequent words of the train split. A word outside its vocabulary is left out of the
    text, as is everything beyond `max_tokens` words.

    Args:
      inputs: query_text string [batch]; doc_text string RaggedTensor [batch, (list_size)]; ids, relevance and
        negative_place.
      custom_config: `vocabulary_size`: words kept per language; `max_tokens`: words kept per text.

    Returns:
      query_tokens int64 [batch, (tokens)], doc_tokens int64 [batch, (list_size), (tokens)], and the rest of the
      inputs.
    """
    size, max_tokens = custom_config["vocabulary_size"], custom_config["max_tokens"]
    documents = inputs[f.DOC_TEXT]
    # A document stands in many lists of a batch: each is tokenised once.
    distinct, place = tf.unique(documents.values)
    words = documents.with_values(tf.gather(tokenize(distinct, max_tokens), place))
    return {
        f.QUERY_ID: inputs[f.QUERY_ID],
        f.QUERY_TOKENS: _ids(tokenize(inputs[f.QUERY_TEXT], max_tokens), f.QUERY_VOCABULARY, size),
        f.DOC_ID: inputs[f.DOC_ID],
        f.DOC_TOKENS: _ids(words, f.DOCUMENT_VOCABULARY, size),
        f.RELEVANCE: inputs[f.RELEVANCE],
        f.NEGATIVE_PLACE: inputs[f.NEGATIVE_PLACE],
    }


def _ids(words: tf.RaggedTensor, vocabulary: str, size: int) -> tf.RaggedTensor:
    """The ids of the words that the vocabulary holds."""
    path = tft.vocabulary(words, top_k=size, vocab_filename=vocabulary)
    ids = tft.apply_vocabulary(words, path, default_value=-1)
    return tf.ragged.boolean_mask(ids, ids >= 0)
