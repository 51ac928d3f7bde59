"""A small exported model whose vocabularies are files, as in the pipeline."""

from pathlib import Path
from typing import Any, Final

import tensorflow as tf

from models.export import export_ranker
from models.ranker import Ranker
from models.settings import ModelSettings
from models.tokens import tokenize

WORDS: Final = {"query_vocabulary": "white\ncat\ndog\n", "document_vocabulary": "chat\nblanc\nchien\nun\n"}
"""The content of each vocabulary's file."""


class _Vocabulary(tf.Module):
    """Words of a file to ids, as Transform's layer has them."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        lines = tf.lookup.TextFileInitializer(
            str(file), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        ids = tf.ragged.map_flat_values(self.table.lookup, tokenize(texts))
        return tf.ragged.boolean_mask(ids, ids >= 0)


def export_small_model(path: Path, **settings: Any) -> None:
    """Writes an untrained ranker as a SavedModel, and the files of its words beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [path.parent / name for name in WORDS]
    for file in files:
        file.write_text(WORDS[file.name])
    query_words, document_words = (_Vocabulary(file) for file in files)
    ranker = Ranker(
        *(words.count("\n") for words in WORDS.values()), ModelSettings(embedding_dim=2, **settings), seed=1
    )
    tokens = tf.ragged.constant([[0]], tf.int64)
    ranker({"query_tokens": tokens, "doc_tokens": tokens, "document_index": tf.constant([[0]])})
    export_ranker(ranker, query_words, document_words, [query_words, document_words], str(path))
