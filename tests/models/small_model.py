"""A small exported model whose vocabularies are files, as in the pipeline."""

from pathlib import Path
from typing import Any, Final

import tensorflow as tf

from models.exported.export import export_ranker
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.texts.stems import stems as stems_of
from models.texts.text_features import TextFeatures
from models.texts.tokens import ALL_WORDS, tokenize
from schemas.word_rules import WordRules
from tests.models.made_once import made_once

WORDS: Final = {"query_vocabulary": "white\ncat\ndog\n", "document_vocabulary": "chat\nblanc\nchien\nun\n"}
"""The content of each vocabulary's file."""
STEMS: Final = {"query_stem_vocabulary": "white\ncat\n", "document_stem_vocabulary": "chien\nchat\nblanc\n"}
"""That of the stems' vocabularies."""


class Vocabulary(tf.Module):
    """Words of a file, a line each, to ids, as Transform's layer has them; or, with a language, stems."""

    def __init__(self, file: Path, language: str | None = None, rules: WordRules = ALL_WORDS) -> None:
        super().__init__()
        self._language, self._rules = language, rules
        lines = tf.lookup.TextFileInitializer(
            str(file), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        words = tokenize(texts, self._rules)
        terms = words if self._language is None else stems_of(words, self._language)
        ids = tf.ragged.map_flat_values(self.table.lookup, terms)
        return tf.ragged.boolean_mask(ids, ids >= 0)


class VocabularyFeatures(TextFeatures):
    """Tokens of both sides, without a pipeline.

    Args:
      folder: of the files of words.
      with_stems: whether there are stems, too.
      rules: the words of texts.
    """

    def __init__(self, folder: Path, with_stems: bool = False, rules: WordRules = ALL_WORDS) -> None:
        super().__init__()
        self.rules = rules
        self.query_words, self.document_words = (Vocabulary(folder / name, None, rules) for name in WORDS)
        self.with_stems = with_stems
        if with_stems:
            self.query_stems, self.document_stems = (
                Vocabulary(folder / name, language, rules) for name, language in zip(STEMS, ("en", "fr"), strict=True)
            )

    def query_columns(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        stems = {"query_stems": self.query_stems(texts)} if self.with_stems else {}
        return {"query_tokens": self.query_words(texts), **stems}

    def document_columns(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        stems = {"doc_stems": self.document_stems(texts)} if self.with_stems else {}
        return {"doc_tokens": self.document_words(texts), **stems}


def small_text_features(folder: Path, with_stems: bool = False, rules: WordRules = ALL_WORDS) -> VocabularyFeatures:
    """Writes the files of words, and of stems, and takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in {**WORDS, **(STEMS if with_stems else {})}.items():
        (folder / name).write_text(words)
    return VocabularyFeatures(folder, with_stems, rules)


def small_towers(
    encoder: str = "mean",
    embedding_dim: int = 2,
    similarity: str = "smooth_cosine",
    epsilon: float = 1.0,
    **encoder_settings: Any,
) -> TwoTowers:
    """Two untrained towers over the words of those files."""
    settings = TwoTowersSettings.model_validate(
        {
            "encoder": {"kind": encoder, **encoder_settings},
            "embedding_dim": embedding_dim,
            "similarity": similarity,
            "epsilon": epsilon,
        }
    )
    numbers = [
        (words.count("\n"), stems.count("\n")) for words, stems in zip(WORDS.values(), STEMS.values(), strict=True)
    ]
    query_words, document_words = (
        Words(words, stems=stems) if settings.reads.words else Words(stems) for words, stems in numbers
    )
    return TwoTowers(query_words, document_words, settings, seed=1)


def features_of(text_features: TextFeatures, queries: list[str], documents: list[list[str]]) -> dict[str, Any]:
    """Features of query lists of one size, as training has them."""
    flat = tf.reshape(tf.constant(documents), [-1])
    return {
        **text_features.query_columns(tf.constant(queries)),
        **text_features.document_columns(flat),
        "document_index": tf.reshape(tf.range(len(flat)), [len(queries), -1]),
    }


def export_small_model(path: Path, **settings: Any) -> None:
    """Writes an untrained ranker as a SavedModel, and the files of its words beside it."""
    made_once(_export, path, *sorted(settings.items()))


def _export(path: Path, *items: tuple[str, Any]) -> None:
    settings = dict(items)
    relevance = settings.pop("relevance", None)
    text_features = small_text_features(path.parent, settings.get("stem_embeddings", False))
    ranker = Ranker({"smooth_cosine": small_towers(**settings)})
    ranker(features_of(text_features, ["cat"], [["chat"]]))
    export_ranker(ranker, text_features, str(path), relevance=relevance)
