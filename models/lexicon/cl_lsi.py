"""Cross-language latent semantic indexing: a common vector space of queries and documents, learned from pairs of both.

Source: Dumais, Letsche, Littman and Landauer 1997, "Automatic cross-language retrieval using latent semantic indexing".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.choices import FITTED
from models.evaluation.fit_number import fit_number
from models.graphs import row_ids
from models.layers.row_sums import weighted_sum
from models.lexicon.lexicon_channel import Vocabulary
from models.lexicon.svd import largest_singular_vectors
from models.lexicon.term_weight import idf
from models.lexicon.terms import TermCounter, terms_of
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.scorer import Bounds, FixedScorer, InnerProduct, ScorerInputs
from models.texts.tokens import within_limit
from schemas import features as f
from schemas.errors import DataError
from schemas.languages import stem_languages
from schemas.training_history import Fitted
from schemas.word_rules import WordRules

DIMS: Final = (50, 100, 200, 500, 1000)
"""The lengths of vectors that `fitted` tries."""

_Floats = npt.NDArray[np.float64]


# The space


def learn_cl_lsi(queries: sparse.csr_matrix, documents: sparse.csr_matrix, max_dim: int) -> tuple[_Floats, _Floats]:
    """Learns a space in which the two texts of a pair lie near each other.

        row = [query, document] / |[query, document]|
        rows = P S [U; V]', cut to the `max_dim` largest singular values
        vector of a query q = U' q, vector of a document d = V' d

    A pair counts as a single text in two languages, in which the longer part weighs more. LSI often divides the vectors
    by S; here undivided vectors rank better. Equal matrices give equal bytes.

    Args:
      queries: the query of each pair, as weighted terms: float [pairs, query terms].
      documents: the document of each pair, as weighted terms: float [pairs, document terms].
      max_dim: the largest length of the vectors; they are shorter if the pairs have fewer dimensions.

    Returns:
      U, float [query terms, length], and V, float [document terms, length]. The columns of [U; V] are orthonormal, in
      the order of falling singular values, and the component of the largest magnitude is positive in each.
    """
    pairs = sparse.hstack([queries, documents], format="csr")
    norms = np.sqrt(np.asarray(pairs.multiply(pairs).sum(axis=1))[:, 0])
    rows = sparse.diags(1 / np.where(norms > 0, norms, 1.0)) @ pairs
    space = largest_singular_vectors(rows.T.tocsr(), max_dim).left
    return space[: queries.shape[1]], space[queries.shape[1] :]


# The pairs


class _Side(NamedTuple):
    """The queries, or the documents, of the train pairs."""

    terms: list[bytes]
    """The terms of the pairs, sorted by their UTF-8."""
    idf: _Floats
    """Inverse document frequency of the terms, among the distinct texts of the train lists: [terms]."""
    rows: sparse.csr_matrix
    """tf * idf of the text of each pair: [pairs, terms]."""

    @classmethod
    def from_texts(cls, texts: Sequence[bytes], pair_rows: Sequence[int], language: str, rules: WordRules) -> "_Side":
        """Counts the terms of texts; `pair_rows` holds the row of each pair's text."""
        counter = TermCounter("lexicon", rules)
        distinct = sorted(set(texts))
        text_rows = {text: row for row, text in enumerate(distinct)}
        counts = counter.count(distinct, language).astype(np.float64)
        pair_counts = counts[[text_rows[texts[row]] for row in pair_rows]]
        terms = counter.terms
        columns = sorted(np.unique(pair_counts.indices).tolist(), key=terms.__getitem__)
        rarity = idf(len(distinct), np.bincount(counts.indices, minlength=len(terms))[columns])
        rows = (pair_counts[:, columns] @ sparse.diags(rarity)).tocsr()
        return cls([terms[column] for column in columns], rarity, rows)


def _train_pairs(inputs: ScorerInputs) -> tuple[_Side, _Side]:
    """The two sides of the pairs of each train query and each of its MR documents.

    Raises:
      DataError: the pairs are too few for a space.
    """
    lists = inputs.train_texts()
    queries = lists.query_columns[f.QUERY_TEXT].numpy().tolist()
    documents = lists.document_columns[f.DOC_TEXT].numpy().tolist()
    is_pair = np.concatenate([np.zeros(0, bool), *(grades == inputs.job.top_grade for grades in lists.grades)])
    query_rows = lists.documents.value_rowids().numpy()[is_pair].tolist()
    doc_rows = lists.documents.flat_values.numpy()[is_pair].tolist()
    (query_language, document_language), rules = stem_languages(inputs.job.languages), inputs.job.rules
    query_side = _Side.from_texts(queries, query_rows, query_language, rules)
    document_side = _Side.from_texts(documents, doc_rows, document_language, rules)
    if min(len(doc_rows), len(query_side.terms), len(document_side.terms)) < 2:
        raise DataError(
            f"the channel {inputs.name} must have at least 2 train pairs of a query and an MR document, with at least "
            f"2 different words on each side; got {len(doc_rows)} pairs. Give more judgments, or leave the channel out."
        )
    return query_side, document_side


# The channel


class FoldedTexts(tf.Module):
    """Texts of a language as sums of the vectors of their terms; its data are variables of the SavedModel.

    Args:
      terms: distinct stems, at least one.
      vectors: the vector of each term: float [terms, dim].
      language: ISO 639-1 code.
      rules: the rules for splitting texts into words.
    """

    def __init__(self, terms: Sequence[bytes], vectors: _Floats, language: str, rules: WordRules) -> None:
        super().__init__()
        self._vocabulary = Vocabulary(terms)
        in_order = vectors[self._vocabulary.order]
        self._vectors = tf.Variable(in_order, trainable=False, dtype=tf.float32, name="vectors")
        self._language, self._rules = language, rules

    def sums(self, texts: tf.Tensor) -> tf.Tensor:
        """The sum over each occurrence of a known term: string [texts] -> float [texts, dim]."""
        terms = terms_of(texts, "lexicon", self._language, self._rules)
        numbers = self._vocabulary.numbers(terms.distinct)
        is_known = tf.cast(numbers >= 0, tf.float32)[:, tf.newaxis]
        vectors = tf.gather(self._vectors, tf.maximum(numbers, 0)) * is_known  # [distinct, dim]
        # A sparse product, because a vector for each word of all texts would take far more memory.
        occurrences = terms.indices
        counts = tf.ones(tf.shape(occurrences.flat_values))
        return weighted_sum(vectors, occurrences.flat_values, row_ids(occurrences), occurrences.nrows(), counts)

    def parts(self, words: tf.Tensor) -> tf.Tensor:
        """The part of each word in one text's sum, 0 beyond the limit: string [words] -> float [words, dim]."""
        is_within = within_limit(tf.RaggedTensor.from_tensor(words[tf.newaxis]), self._rules)
        return self.sums(words) * tf.cast(is_within, tf.float32)[:, tf.newaxis]


class ClLsi(FixedScorer, InnerProduct):
    """Scores documents by the cosine of query and document in the space of `learn_cl_lsi`.

        vector(text) = sum over its terms t of tf(t, text) * ln((N + 1) / (df(t) + 1/2)) * (row t of U or V)
        score = cosine of vector(query) and vector(document)

    Terms are the stems of each language. N is the number of distinct queries (or documents) in the train lists, df(t)
    the number of those with t. Terms outside the train pairs are left out; a text without other terms scores 0.

    Args:
      queries: folds queries, with idf times U.
      documents: folds documents, with idf times V.
      fitted: see `Scorer.fitted`.
      **kwargs: see `Scorer`.
    """

    def __init__(
        self, queries: FoldedTexts, documents: FoldedTexts, fitted: Mapping[str, Fitted] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._queries, self._documents = queries, documents
        self._fitted = dict(fitted or {})

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "ClLsi":
        """Learns the channel from the train pairs.

        Args:
          inputs: the settings and the lists. A `dim` that is `fitted` becomes the best of `DIMS` on the eval split for
            this channel on its own, among the lengths that the pairs allow; all come from a single decomposition.

        Raises:
          DataError: the pairs are too few, or have fewer dimensions than `dim`.
        """
        pairs = _train_pairs(inputs)
        dim = inputs.settings.dim
        query_map, document_map = learn_cl_lsi(pairs[0].rows, pairs[1].rows, max(DIMS) if dim == FITTED else dim)
        known = query_map.shape[1]
        if dim != FITTED:
            if known < dim:
                raise DataError(
                    f"the channel {inputs.name} must have a dim of at most {known}, the dimensions of these "
                    f"{pairs[0].rows.shape[0]:,} train pairs of a query and an MR document; got {dim}. Set a smaller "
                    f"dim, or {FITTED}."
                )
            return cls._from_maps(inputs, pairs, (query_map, document_map))
        dims = [dim for dim in DIMS if dim <= known] or [known]
        texts = inputs.eval_texts()

        def cut_to(dim: float, fitted: Mapping[str, Fitted] | None = None) -> ClLsi:
            return cls._from_maps(inputs, pairs, (query_map[:, : int(dim)], document_map[:, : int(dim)]), fitted)

        def scores(dim: float) -> list[npt.NDArray[np.float32]]:
            columns = with_fixed_scores(texts, texts, [cut_to(dim)]).list_columns
            return texts.split(columns[f.fixed_score(inputs.name)].flat_values.numpy())

        best = fit_number(texts, dims, scores, inputs.job.top_grade)
        return cut_to(best.value, {"dim": best})

    @classmethod
    def _from_maps(
        cls,
        inputs: ScorerInputs,
        pairs: tuple[_Side, _Side],
        maps: tuple[_Floats, _Floats],
        fitted: Mapping[str, Fitted] | None = None,
    ) -> "ClLsi":
        queries, documents = (
            FoldedTexts(side.terms, side.idf[:, np.newaxis] * vectors, language, inputs.job.rules)
            for side, vectors, language in zip(pairs, maps, stem_languages(inputs.job.languages), strict=True)
        )
        return cls(queries, documents, fitted, name=inputs.name)

    @property
    def bounds(self) -> Bounds:
        """-1 and 1."""
        return Bounds(-1.0, 1.0)

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """The fitted `dim`, if it was fitted."""
        return self._fitted

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the queries' vectors, of length 1 or 0."""
        return _unit(self._queries.sums(features[f.QUERY_TEXT]))

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the documents' vectors, of length 1 or 0."""
        return _unit(self._documents.sums(features[f.DOC_TEXT]))

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor:
        """Returns each word's part of the document's vector, divided by the length of their sum."""
        parts = self._documents.parts(features[f.DOC_TEXT])
        return tf.math.divide_no_nan(parts, tf.norm(tf.reduce_sum(parts, axis=0)))

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the same vectors that the exported model gives."""
        return self._inner_products(features, training=False)


def _unit(vectors: tf.Tensor) -> tf.Tensor:
    """Vectors of length 1; zeros stay: float [texts, dim]."""
    return tf.math.divide_no_nan(vectors, tf.norm(vectors, axis=1, keepdims=True))
