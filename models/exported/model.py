"""The exported model, and what it tells: scores, vectors, explanations and translations."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.choices import SCORES
from models.encoders.pretrained_encoder import PretrainedEncoder
from models.evaluation.relevance_shares import RelevanceShares
from models.exported.explanation import Explanation, ScorePart, explanation_of, score_parts
from models.exported.lexicon import ModelStatistics, StemTranslations, translation_weights
from models.exported.loading import check_process, load_saved_model
from models.exported.signatures import Arrays, ModelSignatures, as_texts
from models.lists.feedback import FIRST_PASS, Feedback, unit_vectors
from models.texts.passages import passages_of, split_passages
from models.texts.term_matrix import TermMatrix
from schemas.errors import DataError
from schemas.passages import PassageSettings
from schemas.wikiclir import Text
from schemas.wording import first_line

_STEMS_OF_A_CALL: Final = 4096
_TEXTS_OF_A_CALL: Final = 1024


class EncodedQuery(NamedTuple):
    """A query as an index is searched for it."""

    vector: npt.NDArray[np.float32]
    """float32 [dim]."""
    terms: npt.NDArray[np.object_]
    """bytes [width], distinct; empty without words that match."""
    weights: npt.NDArray[np.float32]
    """float32 [width]: the terms' weights, times the weight of words that match in the score."""


class ExportedModel(ModelSignatures):
    """An exported model, in this process or in a TF Serving.

    Attributes:
      version: the number of the pushed version, which answers every call.
    """

    version: str

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
        """The model's second pass; none without its signature, which models of earlier versions lack."""
        if "feedback" not in self.signatures:
            return FIRST_PASS
        numbers = self.call("feedback", {})
        return Feedback(float(numbers["gain"]), int(numbers["documents"]))

    @cached_property
    def passages(self) -> tuple[PassageSettings, bool] | None:
        """The passages of the model's documents, and whether texts are segmented; None where documents are whole."""
        if "passages" not in self.signatures:
            return None
        numbers = self.call("passages", {})
        passages = PassageSettings(words=int(numbers["words"]), overlap=int(numbers["overlap"]))
        return passages, bool(numbers["segmented"])

    def split(self, document: Text) -> Iterable[Text]:
        """Returns the passages of a document, or the document itself where the model takes documents whole."""
        return passages_of(document, *self.passages) if self.passages else [document]

    def best_passages(self, query: str, texts: Sequence[str]) -> list[str]:
        """Returns the passage of each text with the best score for a query; whole texts as in `split`."""
        if not self.passages:
            return list(texts)
        parts = [split_passages(text, *self.passages) for text in texts]
        scores = iter(self.score(query, [*chain.from_iterable(parts)])[SCORES])
        return [max(zip(passages, scores, strict=False), key=itemgetter(1))[0] for passages in parts]

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
        return self.relevance.at(score) if self.relevance else None

    def why_no_good_answer(self, query: str, scores: Sequence[float]) -> str | None:
        """Returns the signs that a query has no good answer, for a person; None without a sign, or without shares.

        Args:
          query: a text.
          scores: the first pass's scores of its best documents; empty where the model knows no word of the query.
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
        tables = {word: self.call("translate", {"query": as_texts([word])}) for word in words}
        stems = sorted({stem for table in tables.values() for stem in table["query_term"].tolist()})
        known: dict[str, bool] = {}
        if stems and "known_share" in self.signatures:
            # The stem of a stem is itself.
            shares = self.call("known_share", {"query": as_texts(stems)})["share"].tolist()
            known = {stem.decode(): share > 0 for stem, share in zip(stems, shares, strict=True)}
        return {word: StemTranslations.of(table, self._document_words, known) for word, table in tables.items()}

    @cached_property
    def _document_words(self) -> dict[str, tuple[str, ...]]:
        """The most frequent words of each document stem; empty in models of earlier releases."""
        words = defaultdict[str, tuple[str, ...]](tuple)
        if "document_words" in self.signatures:
            table = self.call("document_words", {})
            for stem, word in zip(table["stem"].tolist(), table["word"].tolist(), strict=True):
                words[stem.decode()] += (word.decode(),)
        return dict(words)

    def all_translations(self) -> dict[tuple[str, str], float]:
        """Returns the weight of each translation in the lexicon, by (query stem, document stem).

        A stem also answers itself, with the weight 1; this is left out.

        Raises:
          DataError: the model has no lexicon.
        """
        self._check_lexicon()
        # The stem of a stem is itself, so that a signature for words takes stems.
        stems = [term.decode() for term in self.call("collection_statistics", {})["term"].tolist()]
        weights: dict[tuple[str, str], float] = {}
        for start in range(0, len(stems), _STEMS_OF_A_CALL):
            batch = as_texts(stems[start : start + _STEMS_OF_A_CALL])
            weights |= translation_weights(self.call("translate", {"query": batch}))
        return weights

    def _check_lexicon(self) -> None:
        channel = self.words_channel
        if channel != "lexicon":
            has = f"matches equal words ({channel})" if channel else "has no channel of words that match"
            raise DataError(
                f"{self} must have a lexicon, but {has}; a run with channels.lexicon.kind lexicon learns one."
            )

    def statistics(self) -> ModelStatistics | None:
        """Returns the statistics of the documents that the lexicon was made of; None without a lexicon."""
        if self.words_channel is None:
            return None
        return ModelStatistics.of(self.words_channel, self.call("collection_statistics", {}))


class LoadedModel(ExportedModel):
    """A SavedModel in this process.

    Args:
      path: folder of a SavedModel of ours; where that is a pushed version, its name is the version's number.
      needs: signatures that it must have.
      encoder: see `ModelSignatures`.

    Raises:
      DataError: the model is damaged, or lacks a signature.
      RuntimeError: this process was forked from one that has loaded a model.
    """

    def __init__(self, path: str, *needs: str, encoder: PretrainedEncoder | None = None) -> None:
        check_process()
        self.encoder = encoder
        self.path, self.version = path, path.rstrip("/").rpartition("/")[2]
        try:
            self._model = load_saved_model(path)
            self.signatures = frozenset(self._model.signatures)
        except (OSError, ValueError, LookupError, AttributeError, tf.errors.OpError) as error:
            cause = first_line(error) or type(error).__name__
            raise DataError(f"{path} must hold a whole SavedModel: {cause}.") from None
        missing = {name for name in ("score", *needs) if not self.has(name)}
        if missing and missing <= {"encode_query", "encode_document"}:
            raise DataError(
                f"{path} has no {max(missing)}: its score is no inner product of two vectors, so that there is nothing "
                "to encode or to index. Its signature score ranks documents."
            )
        if missing:
            raise DataError(f"{path} must hold a SavedModel of this project; it lacks the signature {min(missing)}.")

    def __str__(self) -> str:
        return self.path

    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        # TensorFlow returns a single text as plain `bytes`.
        types = {tf.string: object}
        outputs = self._tensors(signature, inputs)
        return {name: np.asarray(tensor.numpy(), types.get(tensor.dtype)) for name, tensor in outputs.items()}

    def tensors(self, signature: str, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the outputs of a signature as tensors, without copies; see `call`."""
        name, complete = self._with_vectors(signature, inputs)
        return self._tensors(name, complete)

    def _tensors(self, signature: str, inputs: Arrays) -> dict[str, tf.Tensor]:
        check_process()
        tensors = {}
        for name, array in inputs.items():
            if not tf.is_tensor(array):
                # An empty array of texts does not show its type.
                array = tf.constant(array, tf.string if np.asarray(array).dtype.kind in "OSU" else None)
            tensors[name] = array
        outputs: dict[str, tf.Tensor] = self._model.signatures[signature](**tensors)
        return outputs
