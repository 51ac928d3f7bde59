"""A small exported model whose vocabularies are files, as in the pipeline."""

from pathlib import Path
from typing import Any, Final

import tensorflow as tf

from models.export import export_ranker
from models.ranker import Ranker
from models.settings import ModelSettings
from models.text_features import TextFeatures
from models.tokens import tokenize
from models.two_towers import TwoTowers, Words

WORDS: Final = {"query_vocabulary": "white\ncat\ndog\n", "document_vocabulary": "chat\nblanc\nchien\nun\n"}
"""The content of each vocabulary's file."""


class Vocabulary(tf.Module):
    """Words of a file, a line each, to ids, as Transform's layer has them."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        lines = tf.lookup.TextFileInitializer(
            str(file), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        ids = tf.ragged.map_flat_values(self.table.lookup, tokenize(texts))
        return tf.ragged.boolean_mask(ids, ids >= 0)


class VocabularyFeatures(TextFeatures):
    """Tokens of both sides, without a pipeline.

    Args:
      folder: of the files of words.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.query_words, self.document_words = (Vocabulary(folder / name) for name in WORDS)

    def of_queries(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        return {"query_tokens": self.query_words(texts)}

    def of_documents(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        return {"doc_tokens": self.document_words(texts)}


def small_text_features(folder: Path) -> VocabularyFeatures:
    """Writes the files of words, and takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in WORDS.items():
        (folder / name).write_text(words)
    return VocabularyFeatures(folder)


def small_towers(**settings: Any) -> TwoTowers:
    """Two untrained towers over the words of those files."""
    query_words, document_words = (Words(words.count("\n")) for words in WORDS.values())
    return TwoTowers(query_words, document_words, ModelSettings(**{"embedding_dim": 2, **settings}), seed=1)


def features_of(text_features: TextFeatures, queries: list[str], documents: list[list[str]]) -> dict[str, Any]:
    """Features of query lists of one size, as training has them."""
    flat = tf.reshape(tf.constant(documents), [-1])
    return {
        **text_features.of_queries(tf.constant(queries)),
        **text_features.of_documents(flat),
        "document_index": tf.reshape(tf.range(len(flat)), [len(queries), -1]),
    }


def export_small_model(path: Path, **settings: Any) -> None:
    """Writes an untrained ranker as a SavedModel, and the files of its words beside it."""
    text_features = small_text_features(path.parent)
    ranker = Ranker({"smooth_cosine": small_towers(**settings)})
    ranker(features_of(text_features, ["cat"], [["chat"]]))
    export_ranker(ranker, text_features, str(path))
