"""The interface of pre-trained text encoders: texts in, vectors out, in two roles."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.settings import TEXT_FORM, EncoderSettings, TextForm
from models.graphs import graph_function
from schemas.errors import DataError

Role: TypeAlias = Literal["query", "document"]
Vectors: TypeAlias = npt.NDArray[np.float32]


class PretrainedEncoder(ABC):
    """Encodes texts as vectors, which do not depend on the other texts of a call but for rounding."""

    @abstractmethod
    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts.

        Args:
          texts: one or more, not empty.
          role: whether they are queries or documents.

        Returns:
          float32 [texts, dim], finite, and not 0.

        Raises:
          DataError: a text cannot be encoded.
        """


class GraphEncoder(PretrainedEncoder, tf.Module):
    """An encoder of TensorFlow's operations, which becomes a part of an exported model.

    Args:
      settings: its settings; see `encoder_texts`.
    """

    _compiled: Any

    def __init__(self, settings: EncoderSettings) -> None:
        tf.Module.__init__(self)
        self._settings = settings
        # A single trace serves both roles and all signatures of an exported model.
        compiled = graph_function(self.encode_tensor, input_signature=[tf.TensorSpec([None], tf.string)])
        object.__setattr__(self, "_compiled", compiled)  # a tracked function would be saved with an exported model

    @abstractmethod
    def encode_tensor(self, texts: tf.Tensor) -> tf.Tensor:
        """Encodes texts as operations of a graph: string [texts] -> float [texts, dim]."""

    def vectors(self, texts: tf.Tensor, role: Role) -> tf.Tensor:
        """Encodes raw texts, see `encoder_texts`: string [texts] -> float [texts, dim]."""
        return self._compiled(encoder_texts(texts, role, self._settings))

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts in batches of `batch` texts; see `PretrainedEncoder.encode`."""
        size, name = self._settings.batch, self._settings.shown_name
        try:
            parts = [self.vectors(tf.constant(texts[at : at + size]), role) for at in range(0, len(texts), size)]
        except tf.errors.OpError as error:
            raise DataError(f"the encoder {name} cannot encode a {role}: {str(error).splitlines()[0]}.") from None
        return checked_vectors(np.concatenate([part.numpy() for part in parts]), texts, name)


def encoder_texts(texts: tf.Tensor, role: Role, settings: EncoderSettings, form: TextForm = TEXT_FORM) -> tf.Tensor:
    """Prepares texts for an encoder, inside and outside of graphs: string [texts] -> string [texts].

    They are brought into the form, cut after `max_characters`, and begin with the role's prefix.

    Example:
      >>> from models.encoders.settings import UseMultilingualSettings
      >>> settings = UseMultilingualSettings(query_prefix="query: ", max_characters=7)
      >>> encoder_texts(tf.constant(["a ri\\u00adver of molten rock"]), "query", settings).numpy().tolist()
      [b'query: a river']
    """
    shown = tf.strings.substr(_in_form(texts, form), 0, settings.max_characters, unit="UTF8_CHAR")
    prefix = settings.prefix(role)
    return tf.strings.join([prefix, shown]) if prefix else shown


def is_cut(texts: tf.Tensor, settings: EncoderSettings) -> tf.Tensor:
    """Returns whether `max_characters` cuts each text: string [texts] -> bool [texts]."""
    return tf.strings.length(_in_form(texts, TEXT_FORM), unit="UTF8_CHAR") > settings.max_characters


def _in_form(texts: tf.Tensor, form: TextForm) -> tf.Tensor:
    """Brings texts into a form: string [texts] -> string [texts]."""
    if form.dropped:
        kept = tf.strings.regex_replace(texts, form.dropped, "")
        # Texts that would become empty stay, because many encoders refuse empty texts.
        texts = tf.where(tf.strings.strip(kept) == "", texts, kept)
    if form.capitals:
        is_capital = tf.strings.regex_full_match(texts, form.capitals)
        texts = tf.where(is_capital, tf.strings.lower(texts, encoding="utf-8"), texts)
    return texts


def checked_vectors(vectors: npt.NDArray[Any], texts: Sequence[str], encoder: str, dim: int | None = None) -> Vectors:
    """Checks an encoder's vectors, and returns them as float32.

    Args:
      vectors: numbers [texts, dim].
      texts: the encoded texts.
      encoder: the encoder's name, for messages.
      dim: the expected length of a vector; None for any.

    Raises:
      DataError: there are more or fewer vectors than texts, a vector has another length, is not finite or is zero.
    """
    if vectors.ndim != 2 or len(vectors) != len(texts):
        got = f"{len(vectors)}" if vectors.ndim else "none"
        raise DataError(f"the encoder {encoder} must give one vector for each of {len(texts)} texts; got {got}.")
    with np.errstate(over="ignore"):
        checked: Vectors = vectors.astype(np.float32)
        norms = np.linalg.norm(checked, axis=1)
    if checked.shape[1] == 0 or dim not in (None, checked.shape[1]):
        length = dim or "1 or more"
        raise DataError(f"the vectors of the encoder {encoder} must have {length} numbers; got {checked.shape[1]}.")
    if not np.isfinite(norms).all():
        text = texts[np.flatnonzero(~np.isfinite(norms))[0]]
        raise DataError(
            f"the vectors of the encoder {encoder} must be finite; got NaN or an infinite number for {text[:60]!r}."
        )
    if not norms.all():
        text = texts[np.flatnonzero(norms == 0)[0]]
        raise DataError(
            f"the vectors of the encoder {encoder} must not be zero; got a zero vector, which has no cosine, for "
            f"{text[:60]!r}."
        )
    return checked
