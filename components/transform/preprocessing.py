"""The preprocessing function of Transform: texts to ids of one vocabulary a language."""

from typing import Any

import tensorflow as tf
import tensorflow_transform as tft

from models.ragged import kept_values
from models.stems import stems
from models.tokens import tokenize
from models.word_table import SOURCES_KEY, WordTableSource, read_word_table
from schemas import features as f


def preprocessing_fn(inputs: dict[str, Any], custom_config: dict[str, Any]) -> dict[str, Any]:
    """Tokenises queries and documents and looks the words up.

    The vocabularies hold the most frequent words of the train split; where there are pre-trained vectors, their words
    come first, so that those which the train split lacks are known, too. Where these vectors are not trained, their
    words are all. A word outside its vocabulary is left out of the text, as is everything beyond `max_tokens` words.
    Stems, if they are asked for, are those of all words of a text up to there, and have vocabularies of their own.

    Args:
      inputs: query_text string [batch]; doc_text string RaggedTensor [batch, (list_size)]; and any others.
      custom_config: `vocabulary_size`: words kept per language; `max_tokens`: words kept per text; under
        `SOURCES_KEY`, a dict of each vocabulary's pre-trained vectors, if any; `stem_languages`: for stems, the
        language of each of their vocabularies, else empty.

    Returns:
      query_tokens int64 [batch, (tokens)], doc_tokens int64 [batch, (list_size), (tokens)], with stems query_stems and
      doc_stems likewise, and the other inputs as they are.
    """
    size, max_tokens, sources, languages = (
        custom_config[key] for key in ("vocabulary_size", "max_tokens", SOURCES_KEY, "stem_languages")
    )
    queries, documents = inputs[f.QUERY_TEXT], inputs[f.DOC_TEXT]
    # A document stands in many lists of a batch: each is tokenised once.
    distinct, place, lists = tf.unique_with_counts(documents.values, tf.int64)
    query_words, document_words = tokenize(queries, max_tokens), tokenize(distinct, max_tokens)

    def query_ids(words: tf.RaggedTensor, vocabulary: str) -> tf.RaggedTensor:
        return _ids(words, tf.ones_like(words.flat_values, tf.int64), vocabulary, size, sources)

    def document_ids(words: tf.RaggedTensor, vocabulary: str) -> tf.RaggedTensor:
        times = tf.gather(lists, words.value_rowids())
        return documents.with_values(tf.gather(_ids(words, times, vocabulary, size, sources), place))

    columns = {
        **{name: column for name, column in inputs.items() if name not in (f.QUERY_TEXT, f.DOC_TEXT)},
        f.QUERY_TOKENS: query_ids(query_words, f.QUERY_VOCABULARY),
        f.DOC_TOKENS: document_ids(document_words, f.DOCUMENT_VOCABULARY),
    }
    if languages:
        query_stems = stems(query_words, languages[f.QUERY_STEM_VOCABULARY])
        document_stems = stems(document_words, languages[f.DOCUMENT_STEM_VOCABULARY])
        columns[f.QUERY_STEMS] = query_ids(query_stems, f.QUERY_STEM_VOCABULARY)
        columns[f.DOC_STEMS] = document_ids(document_stems, f.DOCUMENT_STEM_VOCABULARY)
    return columns


def _ids(
    words: tf.RaggedTensor, times: tf.Tensor, vocabulary: str, size: int, sources: dict[str, dict[str, Any]]
) -> tf.RaggedTensor:
    """The ids of the words that the vocabulary holds, and the vocabulary.

    Args:
      words: string [texts, (words)].
      times: how often each word counts, int64 [words of all texts].
      vocabulary: its name.
      size: of its most frequent words.
      sources: see `preprocessing_fn`.
    """
    # Counted in the graph: without weights, tft hands every single word to Beam.
    counted, weights, first = words.flat_values, times, None
    top: int | None = size
    if vocabulary in sources:
        source = WordTableSource(**sources[vocabulary])
        first = read_word_table(source).words
        # Read by the Trainer alone, for its report: how many of the train split's words have a vector.
        name = f.COUNTS_OF_VOCABULARY[vocabulary]
        tft.vocabulary(counted, vocab_filename=name, store_frequency=True, weights=weights)
        if not source.train:
            # Without a limit, too: with one, no words at all would become a word that stands for none.
            counted, weights, top = counted[:0], weights[:0], None
    path = tft.vocabulary(counted, top_k=top, vocab_filename=vocabulary, reserved_tokens=first, weights=weights)
    ids = tft.apply_vocabulary(words, path, default_value=-1)
    return kept_values(ids, ids.flat_values >= 0)
