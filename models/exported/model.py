"""The exported model: loading it, and asking it for scores, vectors, explanations and translations."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that an exported model holds)
from scipy import sparse

from models.choices import WITH_VECTORS
from models.encoders.load_encoder import EndpointLimits, served_encoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.text_vectors import EncoderRecord
from models.evaluation.relevance_shares import RelevanceShares
from models.exported.explanation import Explanation, ScorePart, explanation_of, score_parts
from models.exported.versions import checked_fingerprint
from models.lists.feedback import FIRST_PASS, Feedback, unit_vectors
from models.texts.term_matrix import TermMatrix
from schemas.errors import DataError
from schemas.json_record import JsonRecord
from schemas.wording import first_line

Arrays = Mapping[str, npt.NDArray[Any]]
"""Arrays by the names of a signature's inputs or outputs; a text is an object, `bytes` in outputs."""

_LEXICON: Final = "lexicon"
"""The name of the channel that has a lexicon."""

_STEMS_OF_A_CALL: Final = 4096
_TEXTS_OF_A_CALL: Final = 1024

_ROLE_OF_INPUT: Final[dict[str, Role]] = {"query": "query", "document": "document", "documents": "document"}
_VECTORS_OF_INPUT: Final = {"query": "query_vectors", "document": "document_vectors", "documents": "document_vectors"}


class EncodedQuery(NamedTuple):
    """A query as an index is searched for it."""

    vector: npt.NDArray[np.float32]
    """float32 [dim]."""
    terms: npt.NDArray[np.object_]
    """bytes [width], distinct; empty without words that match."""
    weights: npt.NDArray[np.float32]
    """float32 [width]: the terms' weights, times the weight of words that match in the score."""


class ModelStatistics(NamedTuple):
    """Statistics of the documents that a model's lexicon was made of."""

    kind: str
    """Kind of the lexicon."""
    documents: int
    mean_length: float
    """Mean length of a document, in terms."""
    document_frequency: dict[bytes, float]
    """Document frequency of every term that the lexicon knows."""


class Translation(JsonRecord):
    """A stem of documents that answers a stem of queries."""

    stem: str
    weight: float


class StemTranslations(JsonRecord):
    """A stem of queries and its translations, best first; the stem itself is not among them."""

    stem: str
    translations: tuple[Translation, ...]


class ExportedModel(ABC):
    """An exported model (see `models.exported.export`), in this process or in a TF Serving.

    Where a pre-trained encoder is not a part of the model, its vectors of the texts of a call come from the encoder
    that the model names, or from `encoder`.

    Attributes:
      signatures: the names of the model's signatures.
      version: the number of the pushed version, which answers every call.
      encoder: gives the vectors of texts instead of the model's own encoder; None for the model's own.
      endpoint_limits: a service's limits where the model's encoder is an endpoint; None for its settings' own. To be
        set before the first call.
    """

    signatures: frozenset[str]
    version: str
    encoder: PretrainedEncoder | None = None
    endpoint_limits: EndpointLimits | None = None

    def call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Returns the outputs of a signature, by their names.

        Raises:
          DataError: a text has no vector of the pre-trained encoder.
        """
        return self._call(*self._with_vectors(signature, inputs))

    @abstractmethod
    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Calls a signature by its exact name."""

    def has(self, signature: str) -> bool:
        """Whether `call` takes a signature, with the vectors of a pre-trained encoder or without."""
        return signature in self.signatures or f"{signature}{WITH_VECTORS}" in self.signatures

    @cached_property
    def encoder_record(self) -> EncoderRecord | None:
        """The record of the model's pre-trained encoder; None without one."""
        if "text_encoder" not in self.signatures:
            return None
        record: bytes = np.asarray(self._call("text_encoder", {})["record"]).item()
        try:
            return EncoderRecord.from_json(record.decode())
        except ValueError as error:
            raise DataError(
                f"the model's record of its encoder must be what a run wrote: {error}. Export the model again."
            ) from None

    @cached_property
    def own_encoder(self) -> PretrainedEncoder | None:
        """The pre-trained encoder that the model holds or names; None without one."""
        if self.encoder_record is None:
            return None
        if "query_text_vectors" in self.signatures:
            return _EncoderInGraph(self)
        return served_encoder(self.encoder_record, self.endpoint_limits)

    def _with_vectors(self, signature: str, inputs: Arrays) -> tuple[str, Arrays]:
        """Returns the signature and the inputs of a call, with an encoder's vectors if the model needs them."""
        name = f"{signature}{WITH_VECTORS}"
        if name not in self.signatures or (self.encoder is None and signature in self.signatures):
            return signature, inputs
        encoder, added = self.encoder or self.own_encoder, dict(inputs)
        if encoder is None:
            raise DataError(f"The REST API cannot say which encoder {self} needs. Use gRPC.")
        for side, texts in inputs.items():
            array = np.asarray(texts, object)
            # Empty texts fill shorter lists.
            rows = [row for row, text in enumerate(array.flat) if text]
            known = encoder.encode([_text(array.flat[row]) for row in rows], _ROLE_OF_INPUT[side]) if rows else None
            if known is None:
                dim = self.encoder_record.dim if self.encoder_record else 0
            else:
                dim = known.shape[1]
            vectors = np.zeros([array.size, dim], np.float32)
            if known is not None:
                vectors[rows] = known
            added[_VECTORS_OF_INPUT[side]] = vectors.reshape([*array.shape, dim])
        return name, added

    @cached_property
    def _words_outputs(self) -> dict[str, Any]:
        """The name and the rules of the channel of words that match; empty without one."""
        return self.call("words_channel", {}) if "words_channel" in self.signatures else {}

    @property
    def words_channel(self) -> str | None:
        """The name of the channel of words that match; None without one."""
        outputs = self._words_outputs
        return np.asarray(outputs["name"]).item().decode() if outputs else None

    @property
    def is_segmented(self) -> bool:
        """Whether white space alone parts words; older models do not say so, and have no such words."""
        return bool(self._words_outputs.get("segmented", False))

    @cached_property
    def channel_weights(self) -> dict[str, float]:
        """The weight of each channel in the score; words that match are the last."""
        weights = {name: float(weight) for name, weight in self.call("channel_weights", {}).items()}
        return {name: weights[name] for name in sorted(weights, key=lambda name: (name == self.words_channel, name))}

    @property
    def words_weight(self) -> float:
        """The weight of words that match in the score; 0 without their channel."""
        return self.channel_weights[self.words_channel] if self.words_channel else 0.0

    @cached_property
    def theta(self) -> tuple[float, ...]:
        """The thresholds between the grades, on the scale of the vectors' part; empty where the loss has none."""
        return tuple(self.call("grade_bands", {})["theta"].tolist()) if "grade_bands" in self.signatures else ()

    @cached_property
    def relevance(self) -> RelevanceShares | None:
        """The shares of relevant documents by score; None where the model has none."""
        if "relevance" not in self.signatures:
            return None
        fields = {name: np.asarray(value).tolist() for name, value in self.call("relevance", {}).items()}
        return RelevanceShares(**{**fields, "score": tuple(fields["score"]), "share": tuple(fields["share"])})

    @cached_property
    def feedback(self) -> Feedback:
        """The model's second pass; without a signature of it, as in models of earlier versions, none."""
        if "feedback" not in self.signatures:
            return FIRST_PASS
        numbers = self.call("feedback", {})
        return Feedback(float(numbers["gain"]), int(numbers["documents"]))

    def second_pass(self, gain: float | None = None) -> Feedback:
        """Returns the model's second pass, or that with another gain; None for its own.

        Raises:
          DataError: the model has no words that match, by which a second pass compares documents.
        """
        feedback = self.feedback if gain is None else self.feedback._replace(gain=gain)
        self.check_second_pass(feedback)
        return feedback

    def check_second_pass(self, feedback: Feedback) -> None:
        """Raises DataError where there is a second pass, and the model has no words that match."""
        if feedback.gain and not self.has("own_terms"):
            raise DataError(
                f"{self} must have a channel of words that match, by whose weights feedback compares documents; a run "
                "with channels.lexicon.kind lexicon, bm25 or tfidf makes one."
            )

    def own_vectors(self, texts: Sequence[str | bytes]) -> tuple[list[bytes], sparse.csr_matrix]:
        """Returns the terms that texts hold themselves, by which a second pass compares documents.

        Returns:
          the distinct terms, and the texts' unit vectors: float32 [texts, terms].
        """
        terms = TermMatrix()
        for start in range(0, len(texts), _TEXTS_OF_A_CALL):
            own = self.call("own_terms", {"document": as_texts(texts[start : start + _TEXTS_OF_A_CALL])})
            terms.add(tf.constant(own["stems"], tf.string), tf.constant(own["weights"], tf.float32))
        return [*terms.columns], unit_vectors(terms.rows())

    def relevant_share(self, score: float) -> float | None:
        """Returns the share of relevant documents among those with a score of the first pass; None where the model has
        no shares."""
        return self.relevance.of(score) if self.relevance else None

    def why_no_good_answer(self, query: str, scores: Sequence[float]) -> str | None:
        """Returns the signs that a query has no good answer, for a person; None without a sign, or without shares.

        Args:
          query: a text.
          scores: the first pass's scores of its documents, the best among them; none where the model knows no word of
            the query.
        """
        if self.relevance is None:
            return None
        if not scores:
            return "no document answers a word of the query that the model knows"
        known_share = 1.0
        if self.relevance.least_known_share:
            known_share = float(self.call("known_share", {"query": as_texts([query])})["share"][0])
        return self.relevance.why_no_good_answer(max(scores), known_share)

    @property
    def can_explain(self) -> bool:
        """Whether `explain` works: the score is an inner product."""
        return "explain_words" in self.signatures

    def score(self, query: str, documents: Sequence[str]) -> dict[str, list[float]]:
        """Scores texts for a query.

        Returns:
          the scores as `scores`, and those of each channel by its name.
        """
        lists = self.call("score", {"query": as_texts([query]), "documents": as_texts([documents])})
        return {name: rows[0].tolist() for name, rows in lists.items()}

    def encode_query(self, query: str) -> EncodedQuery:
        """Returns a query's vector and its weighted terms; the score must be an inner product."""
        outputs = {name: rows[0] for name, rows in self.call("encode_query", {"query": as_texts([query])}).items()}
        if not self.words_weight:
            return EncodedQuery(outputs["vector"], np.zeros(0, object), np.zeros(0, np.float32))
        is_term = outputs["stems"] != b""
        weights = outputs["weights"][is_term] * np.float32(self.words_weight)
        return EncodedQuery(outputs["vector"], outputs["stems"][is_term], weights)

    def parts(self, query: str, documents: Sequence[str]) -> list[tuple[ScorePart, ...]]:
        """Returns the parts of each document's score, a part for each channel; their sum is the score.

        Args:
          query: a text.
          documents: texts, none of them empty.
        """
        scores = self.score(query, documents)
        channel_scores = {name: scores[name] for name in self.channel_weights}
        words: list[Arrays] = []
        if self.words_channel:
            words = [self.call("explain", {"query": as_texts(query), "document": as_texts(text)}) for text in documents]
        return score_parts(channel_scores, self.channel_weights, words)

    def explain(self, query: str, document: str) -> Explanation:
        """Explains a document's score for a query, word by word.

        Args:
          query: a text.
          document: a text, not empty.

        Raises:
          DataError: the model cannot explain words.
        """
        if not self.can_explain:
            raise DataError(
                "the model must have the signature explain_words to show the shares of words; a model whose score is "
                "no inner product lacks it."
            )
        (parts,) = self.parts(query, [document])
        outputs = self.call("explain_words", {"query": as_texts(query), "document": as_texts(document)})
        return explanation_of(query, document, outputs, parts, self.theta, has_words=self.words_channel is not None)

    def translations(self, words: Sequence[str]) -> dict[str, list[StemTranslations]]:
        """Returns the translations of each word's stem; a word may hold several stems, or none.

        Args:
          words: words of queries.

        Raises:
          DataError: the model has no lexicon.
        """
        self._check_lexicon()
        translations = {}
        for word in words:
            by_stem: dict[str, list[Translation]] = {}
            for stem, answer, weight in self._translate([word]):
                answers = by_stem.setdefault(stem, [])
                if answer != stem:
                    answers.append(Translation(stem=answer, weight=weight))
            translations[word] = [StemTranslations(stem=stem, translations=(*row,)) for stem, row in by_stem.items()]
        return translations

    def all_translations(self) -> dict[tuple[str, str], float]:
        """Returns the weight of each translation in the lexicon, by (query stem, document stem).

        A stem is its own stem, so the translations of all stems are those of the whole lexicon. That a stem answers
        itself, with the weight 1, is not among them.

        Raises:
          DataError: the model has no lexicon.
        """
        self._check_lexicon()
        stems = [term.decode() for term in self.call("collection_statistics", {})["term"].tolist()]
        batches = (stems[start : start + _STEMS_OF_A_CALL] for start in range(0, len(stems), _STEMS_OF_A_CALL))
        # The shortest decimal that is this float32: the weight of a file has no digits that the model does not have.
        return {
            (stem, answer): float(str(np.float32(weight)))
            for batch in batches
            for stem, answer, weight in self._translate(batch)
            if answer != stem
        }

    def _check_lexicon(self) -> None:
        channel = self.words_channel
        if channel != _LEXICON:
            has = f"matches equal words ({channel})" if channel else "has no channel of words that match"
            raise DataError(
                f"{self} must have a lexicon, but {has}; a run with channels.lexicon.kind lexicon learns one."
            )

    def _translate(self, queries: Sequence[str]) -> Iterator[tuple[str, str, float]]:
        """Yields (query stem, document stem, weight) of the stems of queries."""
        table = self.call("translate", {"query": as_texts(queries)})
        columns = (table[name].tolist() for name in ("query_term", "document_term", "weight"))
        for stem, answer, weight in zip(*columns, strict=True):
            yield stem.decode(), answer.decode(), weight

    def statistics(self) -> ModelStatistics | None:
        """Returns the statistics of the documents that the lexicon was made of; None without a lexicon."""
        if self.words_channel is None:
            return None
        outputs = self.call("collection_statistics", {})
        frequencies = outputs["document_frequency"].astype(np.float64).tolist()
        return ModelStatistics(
            kind=self.words_channel,
            documents=int(outputs["documents"]),
            mean_length=float(outputs["mean_length"]),
            document_frequency=dict(zip(outputs["term"].tolist(), frequencies, strict=True)),
        )


class _EncoderInGraph(PretrainedEncoder):
    """The pre-trained encoder in a model's graph."""

    def __init__(self, model: ExportedModel) -> None:
        self._model = model

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts: float32 [texts, dim]."""
        return self._model.call(f"{role}_text_vectors", {role: as_texts(texts)})["vectors"]


class LoadedModel(ExportedModel):
    """A SavedModel in this process. Loaded again, with its files as they were, it is the same object.

    Args:
      path: folder of a SavedModel of ours; where that is a pushed version, its name is the version's number.
      needs: signatures that it must have.
      encoder: see `ExportedModel`.

    Raises:
      DataError: the model is damaged, or lacks a signature.
      RuntimeError: this process was forked from one that has loaded a model.
    """

    def __init__(self, path: str, *needs: str, encoder: PretrainedEncoder | None = None) -> None:
        _check_process()
        self.encoder = encoder
        self.path, self.version = path, path.rstrip("/").rpartition("/")[2]
        try:
            self._model = _load(path, checked_fingerprint(path))
            self.signatures = frozenset(self._model.signatures)
        except (OSError, ValueError, LookupError, AttributeError, tf.errors.OpError) as error:
            cause = first_line(error) or type(error).__name__
            raise DataError(f"{path} must hold a whole SavedModel: {cause}.") from None
        _check_signatures(path, {name for name in ("score", *needs) if not self.has(name)}, self.has("score"))

    def __str__(self) -> str:
        return self.path

    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        outputs = self._tensors(signature, inputs)
        return {name: np.asarray(tensor.numpy(), _array_dtype_of(tensor)) for name, tensor in outputs.items()}

    def tensors(self, signature: str, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the outputs of a signature as tensors, without copies; see `call`."""
        name, complete = self._with_vectors(signature, inputs)
        return self._tensors(name, complete)

    def _tensors(self, signature: str, inputs: Arrays) -> dict[str, tf.Tensor]:
        _check_process()
        tensors = {
            name: array if tf.is_tensor(array) else tf.constant(array, _dtype_of(array))
            for name, array in inputs.items()
        }
        outputs: dict[str, tf.Tensor] = self._model.signatures[signature](**tensors)
        return outputs


def as_texts(texts: Any) -> npt.NDArray[Any]:
    """Returns a text, or lists of texts, as `call` takes them."""
    return np.array(texts, object)


_PATTERN_SIGNS: Final = frozenset("[]*?\\")


@cache
def _process() -> int:
    """The process that loads the first model: TensorFlow starts its threads there."""
    return os.getpid()


def _check_process() -> None:
    """Refuses a forked process, in which TensorFlow would wait for its threads for ever."""
    if os.getpid() != _process():
        raise RuntimeError(
            f"a model must be used in the process that loaded one first ({_process()}), because TensorFlow's threads "
            f"do not survive a fork; got process {os.getpid()}. Load it in processes that are started by spawn, or "
            "before any model is loaded."
        )


# Most stages after a Trainer read the same model, and loading takes a second.
@lru_cache(maxsize=1)
def _load(path: str, fingerprint: str) -> Any:
    loaded = _load_saved_model(path)
    if checked_fingerprint(path) != fingerprint:
        raise DataError(f"{path} must not change while it is loaded. Load it again once it stays as it is.")
    return loaded


def _load_saved_model(path: str) -> Any:
    if not os.path.isdir(path) or not _PATTERN_SIGNS.intersection(path):
        return tf.saved_model.load(path)
    # TensorFlow takes the path of the weights for a pattern; by its descriptor the folder has a path without signs.
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return tf.saved_model.load(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _check_signatures(path: str, missing: set[str], scores: bool) -> None:
    """Refuses a model that lacks signatures."""
    if missing and missing <= {"encode_query", "encode_document"} and scores:
        raise DataError(
            f"{path} has no {max(missing)}: its score is no inner product of two vectors, so that there is nothing to "
            "encode or to index. Its signature score ranks documents."
        )
    if missing:
        raise DataError(f"{path} must hold a SavedModel of this project; it lacks the signature {min(missing)}.")


def _text(text: bytes | str) -> str:
    return text.decode() if isinstance(text, bytes) else text


def _dtype_of(array: npt.NDArray[Any]) -> tf.DType | None:
    """Returns the type of texts explicitly, because an empty array of texts does not show it."""
    return tf.string if np.asarray(array).dtype.kind in "OSU" else None


def _array_dtype_of(tensor: tf.Tensor) -> type | None:
    """Returns the type of texts explicitly, because TensorFlow returns a single text as plain `bytes`."""
    return object if tensor.dtype == tf.string else None
