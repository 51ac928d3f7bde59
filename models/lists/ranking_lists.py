"""Query lists as one table: query, document and list columns, of tokens or of texts."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lists.mapped_rows import MappedColumn, RowsFile
from schemas import features as f
from schemas.domains import EVERY_DOMAIN, DomainFilter
from schemas.languages import are_several
from schemas.passages import document_of, passage_number
from schemas.relevance import NOT_RELEVANT, PADDING_LABEL

Column: TypeAlias = "tf.Tensor | tf.RaggedTensor"
"""The values of a feature: [rows] or [rows, (any number)]."""

TEXT_SPEC: Final = {
    name: tf.io.FixedLenFeature([], dtype)
    if f.is_of_query(name)
    else tf.io.RaggedFeature(dtype, row_splits_dtype=tf.int64)
    for name in f.WITHOUT_TITLES
    for dtype in [tf.int64 if name in f.INTEGERS else tf.string]
}
"""The spec of ingestion's examples, with texts."""

IDS_SPEC: Final = {
    name: TEXT_SPEC[name] for name in (f.QUERY_ID, f.QUERY_DOMAIN, f.DOC_ID, f.RELEVANCE, f.NEGATIVE_PLACE)
}
"""The spec of the same examples with only the judgments."""


def language_spec(languages: tuple[str, str]) -> dict[str, Any]:
    """Returns the spec of the languages of texts, for the sides that have several.

    Args:
      languages: codes of the languages of queries and documents; see `schemas.languages`.
    """
    spec: dict[str, Any] = {}
    if are_several(languages[0]):
        spec[f.QUERY_LANG] = tf.io.FixedLenFeature([], tf.string)
    if are_several(languages[1]):
        spec[f.DOC_LANG] = tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64)
    return spec


_PARSE_BATCH: Final = 512
_NEVER_SCORED: Final = (f.QUERY_ID, f.QUERY_DOMAIN, f.QUERY_LANG, f.DOC_ID, f.DOC_LANG)


@dataclass(frozen=True)
class RankingLists:
    """The query lists of a split, sorted by query id; each distinct document is held once.

    Where a run splits documents into passages, the documents of the lists are passages, with ids of
    `schemas.passages`; those of one document follow each other.

    Columns have the names of their features (see `schemas.features`).

    Attributes:
      query_columns: [lists] or [lists, (values)], with `query_id`, and perhaps `query_domain`.
      document_columns: [documents] or [documents, (values)], with `doc_id`. Columns of `IDS` that were read from files,
        and the vectors of a pre-trained encoder, are `MappedColumn`s.
      list_columns: RaggedTensors [lists, (list_size)], with `relevance`, and perhaps `negative_place`.
      documents: the documents of each list, as rows of the document columns: int32 RaggedTensor [lists, (list_size)].
    """

    query_columns: Mapping[str, Column]
    document_columns: Mapping[str, Any]
    list_columns: Mapping[str, tf.RaggedTensor]
    documents: tf.RaggedTensor

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def query_ids(self) -> list[bytes]:
        """The ids of the queries, UTF-8: [lists]."""
        ids: list[bytes] = self.query_columns[f.QUERY_ID].numpy().tolist()
        return ids

    @cached_property
    def domains(self) -> list[str]:
        """The names of the queries' domains, [lists]; empty ones without the column `query_domain`."""
        column = self.query_columns.get(f.QUERY_DOMAIN)
        return [""] * len(self) if column is None else [name.decode() for name in column.numpy().tolist()]

    @cached_property
    def _domain_numbers(self) -> tf.Tensor | None:
        """The number of each query's domain, int32 [lists]; None where all have the same."""
        names, numbers = np.unique(self.domains, return_inverse=True)
        # Created outside any graph, so that all graphs can use it, and on the CPU, where datasets run.
        with tf.init_scope(), tf.device("CPU"):
            return tf.constant(numbers, tf.int32) if len(names) > 1 else None

    @cached_property
    def doc_ids(self) -> list[list[bytes]]:
        """The ids of each list's documents, UTF-8: [lists][list_size]."""
        ids = self.document_columns[f.DOC_ID].numpy()[self.documents.flat_values.numpy()]
        return [list_ids.tolist() for list_ids in self.split(ids)]

    @cached_property
    def grades(self) -> list[npt.NDArray[np.int64]]:
        """The grades of each list's documents: [lists], each int64 [list_size]."""
        return self.split(self.list_columns[f.RELEVANCE].flat_values.numpy())

    @property
    def drawn(self) -> list[npt.NDArray[np.bool_]]:
        """Whether each list's documents are NR documents of the draw, or of the candidates: [lists], each bool
        [list_size]. The lists must be read `with_negative_places`."""
        return self.split(self.list_columns[f.NEGATIVE_PLACE].flat_values.numpy() >= 0)

    @property
    def pairs(self) -> int:
        """The number of query-document pairs in all lists."""
        return int(self.documents.flat_values.shape[0])

    def with_judged_negatives(self) -> "RankingLists":
        """The lists without the NR documents, drawn or judged, that are not relevant to any query of the lists."""
        relevant = self.are_relevant()
        kept = self.documents.with_flat_values(tf.constant(relevant[self.documents.flat_values.numpy()]))
        documents = tf.ragged.boolean_mask(self.documents, kept)
        rows = tf.constant(np.cumsum(relevant) - 1, tf.int32)
        return replace(
            self,
            document_columns={
                name: _selected(column, np.flatnonzero(relevant)) for name, column in self.document_columns.items()
            },
            list_columns={name: tf.ragged.boolean_mask(column, kept) for name, column in self.list_columns.items()},
            documents=documents.with_flat_values(tf.gather(rows, documents.flat_values)),
        )

    def with_random_documents(self, seed: int) -> "RankingLists":
        """The queries, each with two random documents from the lists of its domain instead of its list.

        Draws do not depend on grades: all grades are NOT_RELEVANT, and other list columns are left out.
        """
        ids, generator = self.document_columns[f.DOC_ID].numpy(), np.random.default_rng(seed)
        domains, list_rows = np.array(self.domains), self.documents.value_rowids().numpy()
        drawn = np.zeros([len(self), 2], np.int32)
        for domain in sorted({*self.domains}):
            domain_documents = np.unique(self.documents.flat_values.numpy()[domains[list_rows] == domain])
            pool = domain_documents[np.argsort(ids[domain_documents])]  # an order independent of lists and grades
            queries = domains == domain
            drawn[queries] = pool[generator.integers(len(pool), size=[int(queries.sum()), 2])]
        documents = tf.RaggedTensor.from_row_lengths(tf.constant(drawn.ravel()), np.full(len(self), 2))
        grades = documents.with_flat_values(tf.fill([drawn.size], tf.constant(NOT_RELEVANT, tf.int64)))
        return replace(self, documents=documents, list_columns={f.RELEVANCE: grades})

    def are_relevant(self) -> npt.NDArray[np.bool_]:
        """Whether each document is relevant to any query: bool [documents]."""
        relevant = np.zeros(len(self.document_columns[f.DOC_ID]), bool)
        grades = self.list_columns[f.RELEVANCE].flat_values.numpy()
        relevant[self.documents.flat_values.numpy()[grades > NOT_RELEVANT]] = True
        return relevant

    @cached_property
    def _first_passages(self) -> npt.NDArray[np.bool_] | None:
        """Whether each passage in the lists is the first of its document there, bool [pairs]; None for whole
        documents."""
        ids = [doc_id.decode() for doc_ids in self.doc_ids for doc_id in doc_ids]
        if all(passage_number(identifier) is None for identifier in ids):
            return None
        begins = np.ones(len(ids), bool)
        begins[1:] = [doc_id != before for before, doc_id in pairwise(map(document_of, ids))]
        begins[self.documents.row_splits.numpy()[:-1]] = True
        return begins

    @cached_property
    def whole_documents(self) -> "RankingLists":
        """The lists with documents in place of their passages; a document has the text of its first passage."""
        if self._first_passages is None:
            return self
        kept = self.documents.with_flat_values(tf.constant(self._first_passages))
        doc_ids = [document_of(doc_id.decode()) for doc_id in self.document_columns[f.DOC_ID].numpy().tolist()]
        return replace(
            self,
            document_columns={**self.document_columns, f.DOC_ID: tf.constant(doc_ids, tf.string)},
            list_columns={name: tf.ragged.boolean_mask(column, kept) for name, column in self.list_columns.items()},
            documents=tf.ragged.boolean_mask(self.documents, kept),
        )

    def best_passages(self, scores: Sequence[Any]) -> Sequence[Any]:
        """The scores of `whole_documents`: of each document its best passage's (MaxP, Dai and Callan 2019).

        Args:
          scores: the scores of the lists' passages: [lists], each [list_size].
        """
        if self._first_passages is None:
            return scores
        starts = map(np.flatnonzero, self.split(self._first_passages))
        return [np.maximum.reduceat(passages, first) for passages, first in zip(scores, starts, strict=True)]

    def split(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Divides values of all pairs, [pairs, ...], into one array for each list."""
        return np.split(values, self.documents.row_splits.numpy()[1:-1]) if len(self) else []

    def digest(self) -> str:
        """SHA-256 of all columns, which is all that a training reads."""
        digest = hashlib.sha256()
        columns = {**self.query_columns, **self.document_columns, **self.list_columns, f.DOCUMENT_INDEX: self.documents}
        for name, column in sorted(columns.items()):
            digest.update(name.encode())
            for part in _parts(column):
                size = 0
                for values in part:
                    texts = values.dtype == object
                    digest.update(b"\0".join([b"", *values.tolist()]) if texts else values.tobytes())
                    size += len(values)
                digest.update(f"/{size}".encode())
        return digest.hexdigest()

    def batch(self, rows: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        """Returns a batch of lists for a scorer, and their grades.

        Args:
          rows: the lists, int [batch].

        Returns:
          (features, labels). Features: all columns except the ids and `negative_place`: query columns [batch, ...],
          document columns of the batch's distinct documents [documents, ...], list columns [batch, list_size], padded
          with 0 or "", and `document_index`, int [batch, list_size], padded with -1. With several domains also
          `query_domain`, int [batch]. Labels: float [batch, list_size], padded with PADDING_LABEL.
        """
        documents = tf.gather(self.documents, rows)
        distinct, column = tf.unique(documents.flat_values)
        features = {name: _gathered(column, rows) for name, column in _without(_NEVER_SCORED, self.query_columns)}
        document_columns = _without(_NEVER_SCORED, self.document_columns)
        features |= {name: _gathered(column, distinct) for name, column in document_columns}
        list_columns = _without((f.RELEVANCE, f.NEGATIVE_PLACE), self.list_columns)
        features |= {name: tf.gather(values, rows).to_tensor() for name, values in list_columns}
        if self._domain_numbers is not None:
            features[f.QUERY_DOMAIN] = tf.gather(self._domain_numbers, rows)
        features[f.DOCUMENT_INDEX] = documents.with_flat_values(column).to_tensor(-1)
        relevance = tf.gather(self.list_columns[f.RELEVANCE], rows)
        return features, tf.cast(relevance, tf.float32).to_tensor(PADDING_LABEL)


def _gathered(column: Any, rows: tf.Tensor) -> Column:
    return column.gather(rows) if isinstance(column, MappedColumn) else tf.gather(column, rows)


def _selected(column: Any, rows: npt.NDArray[np.int64]) -> Any:
    return column.select(rows) if isinstance(column, MappedColumn) else tf.gather(column, rows)


def _parts(column: Any) -> Iterator[Iterable[npt.NDArray[Any]]]:
    """The arrays of a column, each in blocks."""
    if isinstance(column, MappedColumn):
        yield from column.parts()
    elif isinstance(column, tf.RaggedTensor):
        yield from ([part.numpy()] for part in (*column.nested_row_splits, column.flat_values))
    else:
        yield [column.numpy()]


def _without(names: Collection[str], columns: Mapping[str, Column]) -> list[tuple[str, Any]]:
    return [(name, column) for name, column in columns.items() if name not in names]


def read_lists(
    files: Iterable[str],
    spec: Mapping[str, Any] = TEXT_SPEC,
    used_negatives: int | None = None,
    domains: DomainFilter = EVERY_DOMAIN,
    with_negative_places: bool = False,
) -> RankingLists:
    """Reads listwise examples (gzipped TFRecords), sorted by query id.

    Args:
      files: the paths of the TFRecord files of one split.
      spec: the spec of the examples: `TEXT_SPEC`, or `TFTransformOutput.transformed_feature_spec()`.
      used_negatives: the largest number of NR documents of a list; None for all.
      domains: the domains whose lists are read.
      with_negative_places: whether the lists keep the column `negative_place`.
    """
    dataset = tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_PARSE_BATCH)
    rows: dict[bytes, int] = {}
    documents: list[tf.RaggedTensor] = []
    # The ids of the documents' words are nearly all of the data; in files they may exceed memory.
    files_of = {name: RowsFile() for name in f.IDS if name in spec and f.is_of_document(name)}
    left_out = [*files_of, *([] if with_negative_places else [f.NEGATIVE_PLACE])]
    parts: dict[str, list[Any]] = {name: [] for name in spec if name not in left_out}
    # An empty batch comes first, so that columns have types even without examples.
    for serialized in chain([tf.constant([], tf.string)], dataset):
        example = _kept_domains(_with_small_ids(tf.io.parse_example(serialized, dict(spec))), domains)
        example = _used(example, used_negatives)
        doc_ids = example[f.DOC_ID]
        new, document_rows = [], []
        for row, doc_id in enumerate(doc_ids.flat_values.numpy().tolist()):
            if doc_id not in rows:
                rows[doc_id] = len(rows)
                new.append(row)
            document_rows.append(rows[doc_id])
        documents.append(doc_ids.with_flat_values(tf.constant(document_rows, tf.int32)))
        for name, file in files_of.items():
            ids = tf.gather(example[name].values, tf.constant(new, tf.int64))
            file.add(ids.flat_values.numpy(), ids.row_lengths().numpy())
        for name, pieces in parts.items():
            column = example[name]
            pieces.append(tf.gather(column.values, tf.constant(new, tf.int64)) if f.is_of_document(name) else column)
    # Frees each column's parts as soon as the column is built, which halves peak memory.
    columns = {name: tf.concat(parts.pop(name), axis=0) for name in [*parts]}
    query_ids = columns[f.QUERY_ID].numpy()
    order = tf.constant(sorted(range(len(query_ids)), key=query_ids.__getitem__), tf.int32)
    query_columns = {name: tf.gather(columns.pop(name), order) for name in [*columns] if f.is_of_query(name)}
    document_columns = {name: columns.pop(name) for name in [*columns] if f.is_of_document(name)}
    return RankingLists(
        query_columns=query_columns,
        document_columns={**document_columns, **{name: file.mapped() for name, file in files_of.items()}},
        list_columns={name: tf.gather(column, order) for name, column in columns.items()},
        documents=tf.gather(tf.concat(documents, axis=0), order),
    )


def _kept_domains(examples: dict[str, Any], domains: DomainFilter) -> dict[str, Any]:
    """Keeps the examples of the domains that are read."""
    if domains == EVERY_DOMAIN:
        return examples
    kept = [domains.keeps(name) for name in examples[f.QUERY_DOMAIN].numpy().tolist()]
    return {name: _gathered(column, np.flatnonzero(kept)) for name, column in examples.items()}


def _used(example: dict[str, Any], used_negatives: int | None) -> dict[str, Any]:
    """Leaves out the NR documents beyond the limit."""
    if used_negatives is None:
        return example
    used = example[f.NEGATIVE_PLACE] < used_negatives
    return {
        name: column if f.is_of_query(name) else tf.ragged.boolean_mask(column, used)
        for name, column in example.items()
    }


def _with_small_ids(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Casts ids to int32, which holds those of any vocabulary."""
    return {name: tf.cast(column, tf.int32) if name in f.IDS else column for name, column in columns.items()}
