"""Lists of texts as vectors of tf-idf, and the choice of a rival's parameters on the eval split."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.evaluation.fit_number import EvalMetrics
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import Kind, Lexicon
from models.lexicon.term_weight import idf
from models.lexicon.terms import TermCounter
from models.lists.ranking_lists import RankingLists
from schemas import features as f
from schemas.collection import RawText
from schemas.languages import is_one_language, stem_languages
from schemas.word_rules import WordRules

Scores: TypeAlias = list[npt.NDArray[np.float32]]
"""The scores of each list's documents, in the order of the list."""

Vectors: TypeAlias = "sparse.csr_matrix | npt.NDArray[np.float64]"
"""A vector of each text: float [texts, dim]."""


@dataclass(frozen=True, eq=False)
class Split:
    """The lists of a split, with matrices over the same terms.

    Attributes:
      lists: the lists.
      queries: counts of the terms of each query: float [lists, terms].
      documents: counts of the terms of each distinct document: float [documents, terms].
      translated_queries: counts of the terms of each query's machine translation: float [lists, terms]; None without a
        translator.
    """

    lists: RankingLists
    queries: sparse.csr_matrix
    documents: sparse.csr_matrix
    translated_queries: sparse.csr_matrix | None = None

    @property
    def listed(self) -> Sequence[npt.NDArray[np.int32]]:
        """The documents of each list, as rows of `documents`."""
        return self.lists.split(self.lists.documents.flat_values.numpy())

    def inner_products(self, queries: Vectors, documents: Vectors) -> Scores:
        """Scores each document of each list by the inner product of its vector and the query's."""
        scores = []
        for row, document_rows in enumerate(self.listed):
            query = queries[row].toarray()[0] if sparse.issparse(queries) else queries[row]
            scores.append(np.asarray(documents[document_rows] @ query, np.float32))
        return scores


class CollectionTerms(NamedTuple):
    """Statistics of the terms in a whole collection."""

    idf: npt.NDArray[np.float64]
    """Inverse document frequency of each term: float [terms]."""
    mean_length: float
    """Mean number of terms of a document."""

    @classmethod
    def from_texts(
        cls,
        collection: Iterable[RawText],
        kind: Kind,
        languages: tuple[str, str],
        rules: WordRules,
        terms: Sequence[bytes],
    ) -> "CollectionTerms":
        """Counts the text of every document; see `learn_lexicon`.

        Args:
          collection, kind, languages, rules: see `learn_lexicon`.
          terms: the terms, in the order of the result.
        """
        counted = learn_lexicon(kind, languages, rules, (), collection)
        frequency = dict(zip(counted.terms, counted.document_frequency.tolist(), strict=True))
        return cls(
            idf(counted.record.documents, [frequency.get(term, 0.0) for term in terms]), counted.record.mean_length
        )


@dataclass(frozen=True)
class TermLists:
    """The three splits over a common numbering of terms.

    Attributes:
      train, eval, test: the splits.
      query_idf, document_idf: inverse document frequency of each term among the distinct queries, and documents, of the
        train lists; within a language both are among the documents: float [terms].
      has_one_language: whether queries and documents have the same language.
      lexicon: a lexicon of the kind `lexicon`; None within a language, or where no method needs it.
      translations: A of the lexicon, float [terms, terms]; None without a lexicon.
      collection: statistics of the whole collection; None where no method needs them.
      top_grade: the MR grade.
      vocabulary_size: the number of most frequent terms of queries, and of documents, in a full matrix of weights.
      seed: seeds random orders.
    """

    train: Split
    eval: Split
    test: Split
    query_idf: npt.NDArray[np.float64]
    document_idf: npt.NDArray[np.float64]
    has_one_language: bool
    lexicon: Lexicon | None
    translations: sparse.csr_matrix | None
    collection: CollectionTerms | None
    top_grade: int
    vocabulary_size: int
    seed: int

    @classmethod
    def read(
        cls,
        splits: Mapping[str, RankingLists],
        languages: tuple[str, str],
        rules: WordRules,
        lexicon: Lexicon | None,
        top_grade: int,
        vocabulary_size: int,
        seed: int,
        collection: Iterable[RawText] | None = None,
        translated: Mapping[bytes, bytes] | None = None,
    ) -> "TermLists":
        """Counts the terms of texts: words within a language, as in the paper, and stems across languages.

        Args:
          splits: from name to lists, as texts.
          languages: ISO 639-1 codes of queries and documents.
          rules: the rules for splitting texts into words.
          lexicon: a lexicon of the kind `lexicon`, for methods that translate queries; unused within a language.
          top_grade, vocabulary_size, seed: see the attributes.
          collection: the text of every document, for methods that need its statistics.
          translated: the text of each query in the documents' language, for methods that need a translator.
        """
        has_one_language = is_one_language(languages)
        kind: Kind = "tfidf" if has_one_language else "lexicon"
        lexicon = None if has_one_language else lexicon
        counter = TermCounter(kind, rules, lexicon.terms if lexicon else ())
        languages = stem_languages(languages)
        counted = {}
        for name, lists in splits.items():
            queries, documents = (
                column.numpy().tolist()
                for column in (lists.query_columns[f.QUERY_TEXT], lists.document_columns[f.DOC_TEXT])
            )
            counted[name] = [counter.count(queries, languages[0]), counter.count(documents, languages[1])]
            if translated is not None:
                counted[name].append(counter.count([translated[query] for query in queries], languages[1]))
        size = len(counter.terms)
        for matrices in counted.values():
            for matrix in matrices:
                matrix.resize((matrix.shape[0], size))
        train, evaluated, tested = (
            Split(splits[name], *(matrix.astype(np.float64) for matrix in counted[name]))
            for name in ("train", "eval", "test")
        )
        translations = None
        if lexicon is not None:
            translations = lexicon.translations.copy()
            translations.resize((size, size))
        document_idf = _idf(train.documents)
        return cls(
            train=train,
            eval=evaluated,
            test=tested,
            query_idf=document_idf if has_one_language else _idf(train.queries),
            document_idf=document_idf,
            has_one_language=has_one_language,
            lexicon=lexicon,
            translations=translations,
            collection=(
                None
                if collection is None
                else CollectionTerms.from_texts(collection, kind, languages, rules, counter.terms)
            ),
            top_grade=top_grade,
            vocabulary_size=vocabulary_size,
            seed=seed,
        )

    def unit_queries(self, split: Split) -> sparse.csr_matrix:
        """tf-idf of the original queries, of unit length: float [lists, terms]."""
        return unit_rows(split.queries @ sparse.diags(self.query_idf))

    def unit_documents(self, split: Split) -> sparse.csr_matrix:
        """tf-idf of the documents, of unit length: float [documents, terms]."""
        return unit_rows(split.documents @ sparse.diags(self.document_idf))

    def choose(self, candidates: Iterable["Candidate"]) -> "Ranking":
        """Returns the test lists' scores of the candidate with the best `EvalMetrics` on the eval lists.

        Scores a candidate before the next is made; among equally good candidates takes the first.
        """
        best: Ranking | None = None
        for candidate in candidates:
            value = EvalMetrics.measure(self.eval.lists, candidate.scores(self.eval), self.top_grade).value
            if best is None or value > best.eval_value:
                best = Ranking(candidate.scores(self.test), candidate.parameters, value)
        if best is None:
            raise ValueError("a rival must have a candidate")
        return best


class Candidate(NamedTuple):
    """A rival with chosen parameters."""

    parameters: dict[str, Any]
    scores: Callable[[Split], Scores]


class Ranking(NamedTuple):
    """The scores of the test lists, and the parameters that the eval split chose."""

    scores: Scores
    parameters: dict[str, Any]
    eval_value: float
    """The value of `EvalMetrics` on the eval split."""


def weighted_sum(parts: Sequence[tuple[float, Callable[[Split], Scores]]], split: Split) -> Scores:
    """Returns the sum of rankers' scores, each times its weight."""
    weights = [np.float32(weight) for weight, _ in parts]
    list_scores = zip(*(scores(split) for _, scores in parts), strict=True)
    return [sum(weight * scores for weight, scores in zip(weights, rankers, strict=True)) for rankers in list_scores]


def unit_rows(rows: Any) -> Any:
    """Divides rows, sparse or dense, by their lengths; zeros stay: float [texts, dim]."""
    if sparse.issparse(rows):
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))[:, 0])
        return (sparse.diags(1 / np.where(norms > 0, norms, 1.0)) @ rows).tocsr()
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _idf(counts: sparse.csr_matrix) -> npt.NDArray[np.float64]:
    """idf of terms among distinct texts: counts [texts, terms] -> float [terms]."""
    distinct = {row.data.tobytes() + row.indices.tobytes(): number for number, row in enumerate(counts)}
    rows = counts[sorted(distinct.values())] if distinct else counts
    rarity: npt.NDArray[np.float64] = idf(rows.shape[0], rows.getnnz(axis=0))
    return rarity
