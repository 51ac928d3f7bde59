"""The preprocessing function of Transform: texts to ids of a vocabulary for each language."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tensorflow_transform as tft

from components.transform.settings import TransformSettings
from models.graphs import kept_values
from models.texts.stems import stems
from models.texts.tokens import tokenize
from models.texts.word_table import read_word_table
from schemas import features as f


def preprocessing_fn(inputs: dict[str, Any], custom_config: dict[str, Any]) -> dict[str, Any]:
    """Tokenises queries and documents, and looks the words up.

    The vocabularies hold the most frequent words of the train split. The words of pre-trained vectors come first, even
    if the train split lacks them; where the vectors are not trained, there are no other words. Words outside the
    vocabulary, and words beyond the limit, are left out of a text. Stems, if the settings ask for them, are those of
    all words up to the limit, and have separate vocabularies.

    Args:
      inputs: query_domain and query_text string [batch]; doc_text string RaggedTensor [batch, (list_size)]; and any
        others.
      custom_config: `TransformSettings`, as JSON.

    Returns:
      query_tokens int64 [batch, (tokens)], doc_tokens int64 [batch, (list_size), (tokens)], with stems query_stems and
      doc_stems likewise, and the other inputs as they are.
    """
    settings = TransformSettings.model_validate(custom_config)
    words = words_of(inputs, settings)
    paths = {}
    for vocabulary, (flat, times) in words.counted(settings.joint_stems).items():
        top: int | None = settings.vocabulary_size
        counted, first = flat, None
        if source := settings.word_tables.get(vocabulary):
            first = read_word_table(source).words
            # For the Trainer's report on how many of the train split's words have a vector.
            name = f.COUNTS_OF_VOCABULARY[vocabulary]
            tft.vocabulary(flat, vocab_filename=name, store_frequency=True, weights=times)
            if not source.train:
                # Without a limit: with one, tft would put a stand-in into a vocabulary without words.
                counted, times, top = counted[:0], times[:0], None
        # The graph counts: without weights, tft hands every single word to Beam.
        paths[vocabulary] = tft.vocabulary(
            counted, top_k=top, vocab_filename=vocabulary, reserved_tokens=first, weights=times
        )
    return columns_of(inputs, words, paths.__getitem__)


class Words(NamedTuple):
    """The words and stems of a batch, by the names of their vocabularies.

    Attributes:
      query_words: string [batch, (words)].
      document_words: string [documents, (words)], of the batch's distinct documents.
      document_rows: int64 [documents of all lists], each document's row among the distinct ones.
      counts: int64 [batch], 1 for each list whose words count, and 0 for those of held-out domains.
      lists: int64 [documents], the number of lists that count and contain the document.
    """

    query_words: dict[str, tf.RaggedTensor]
    document_words: dict[str, tf.RaggedTensor]
    document_rows: tf.Tensor
    counts: tf.Tensor
    lists: tf.Tensor

    def counted(self, joint_stems: bool) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
        """Returns each vocabulary's words, string [words that count], and their weights, int64 [words that count].

        Args:
          joint_stems: see `TransformSettings`.
        """
        counted = {
            name: _counted_words(words.flat_values, tf.gather(times, words.value_rowids()))
            for side_words, times in ((self.query_words, self.counts), (self.document_words, self.lists))
            for name, words in side_words.items()
        }
        if joint_stems:
            side_counts = [counted[name] for name in f.STEMS_OF_VOCABULARY.values()]
            words, weights = (tf.concat(parts, axis=0) for parts in zip(*side_counts, strict=True))
            counted |= dict.fromkeys(f.STEMS_OF_VOCABULARY.values(), (words, weights))
        return counted


def _counted_words(words: tf.Tensor, weights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return tf.boolean_mask(words, weights > 0), tf.boolean_mask(weights, weights > 0)


def words_of(inputs: dict[str, Any], settings: TransformSettings) -> Words:
    """Returns the words of a batch; see `preprocessing_fn`."""
    languages = settings.stem_languages
    # A document may be in many lists of a batch, and is tokenised once.
    distinct, document_rows = tf.unique(inputs[f.DOC_TEXT].values, tf.int64)
    counts = _counts(inputs[f.QUERY_DOMAIN], settings.held_out)
    document_counts = tf.gather(counts, inputs[f.DOC_TEXT].value_rowids())
    lists = tf.math.unsorted_segment_sum(document_counts, document_rows, tf.size(distinct))

    def side_words(vocabulary: str, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        words, stem_vocabulary = tokenize(texts, settings.rules), f.STEMS_OF_VOCABULARY[vocabulary]
        columns = {vocabulary: words}
        if stem_vocabulary in languages:
            columns[stem_vocabulary] = stems(words, languages[stem_vocabulary])
        return columns

    return Words(
        side_words(f.QUERY_VOCABULARY, inputs[f.QUERY_TEXT]),
        side_words(f.DOCUMENT_VOCABULARY, distinct),
        document_rows,
        counts,
        lists,
    )


def _counts(domains: tf.Tensor, held_out: Sequence[str]) -> tf.Tensor:
    """Returns 1 for each domain, string [batch], that is not held out, else 0: int64 [batch]."""
    is_held_out = tf.reduce_any(domains[:, tf.newaxis] == tf.constant(held_out, tf.string, [len(held_out)]), axis=1)
    return tf.cast(~is_held_out, tf.int64)


def columns_of(inputs: dict[str, Any], words: Words, path_of: Callable[[str], Any]) -> dict[str, Any]:
    """Returns the columns of a batch; see `preprocessing_fn`.

    Args:
      inputs: see `preprocessing_fn`.
      words: the words of the inputs.
      path_of: a vocabulary's name to the path of its file.
    """

    def ids(text_words: tf.RaggedTensor, vocabulary: str) -> tf.RaggedTensor:
        word_ids = tft.apply_vocabulary(text_words, path_of(vocabulary), default_value=-1)
        return kept_values(word_ids, word_ids.flat_values >= 0)

    return {
        **{name: column for name, column in inputs.items() if name not in (f.QUERY_TEXT, f.DOC_TEXT)},
        **{f.COLUMN_OF_VOCABULARY[name]: ids(column, name) for name, column in words.query_words.items()},
        **{
            f.COLUMN_OF_VOCABULARY[name]: inputs[f.DOC_TEXT].with_values(
                tf.gather(ids(column, name), words.document_rows)
            )
            for name, column in words.document_words.items()
        },
    }
