"""What the lexicon of an exported model translates words to."""

from collections.abc import Sequence
from typing import Final

import tensorflow as tf

from models.exported.model import load_model, words_channel
from schemas.errors import DataError
from schemas.json_record import JsonRecord

_LEXICON: Final = "lexicon"
"""The name of the channel that has one."""


class Translation(JsonRecord):
    """A stem of documents that answers one of queries."""

    stem: str
    weight: float


class StemTranslations(JsonRecord):
    """A stem of queries, and what the lexicon translates it to, best first; the stem itself is not among them."""

    stem: str
    translations: tuple[Translation, ...]


def word_translations(model_path: str, words: Sequence[str]) -> dict[str, list[StemTranslations]]:
    """The translations of each word's stem; of each stem, where a word is several, or none.

    Args:
      model_path: a SavedModel of ours.
      words: of queries.

    Raises:
      DataError: the model cannot be loaded, or has no lexicon.
    """
    model = load_model(model_path, "score")
    channel = words_channel(model)
    if channel != _LEXICON:
        raise DataError(
            f"{model_path} must have a lexicon, but its score is "
            + (f"that of vectors and of equal words ({channel})" if channel else "of no channel of words that match")
            + "; a run with lexicon.kind lexicon learns one."
        )
    found = {}
    for word in words:
        table = model.signatures["translate"](query=tf.constant([word]))
        stems: dict[str, list[Translation]] = {}
        columns = (table[name].numpy().tolist() for name in ("query_term", "document_term", "weight"))
        for stem, answer, weight in zip(*columns, strict=True):
            of_stem = stems.setdefault(stem.decode(), [])
            if answer != stem:
                of_stem.append(Translation(stem=answer.decode(), weight=weight))
        found[word] = [StemTranslations(stem=stem, translations=tuple(of_it)) for stem, of_it in stems.items()]
    return found
