"""The listwise example, and the Beam step that makes it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import apache_beam as beam
import tensorflow as tf

from components.wikiclir_example_gen.packed_lines import unpack_lines
from components.wikiclir_example_gen.report import TALLIES, USED, tally
from components.wikiclir_example_gen.sampling import list_place
from schemas import features as f
from schemas.collection import split_text
from schemas.wikiclir import Text


class MakeExample(beam.DoFn):
    """(query_id, its text, list and groups of documents) -> a serialized listwise example, tagged with its split."""

    def process(self, element: tuple[str, dict[str, Any]]) -> Iterator[Any]:
        query_id, groups = element
        for ranking_list in groups["list"]:
            (query,) = groups["query"]
            # A document that no list needs may have the hash of one that this list does: it comes, and is none of its.
            lines = chain.from_iterable(map(unpack_lines, groups["documents"]))
            found = (one for one in map(split_text, lines) if one[0] in ranking_list.grades)
            documents = sorted(found, key=lambda document: list_place(query_id, document[0]))
            places = {doc_id: place for place, doc_id in enumerate(ranking_list.negatives)}
            example = make_example(
                query,
                documents,
                [ranking_list.grades[doc_id] for doc_id, _, _ in documents],
                [places.get(doc_id, -1) for doc_id, _, _ in documents],
            )
            yield beam.pvalue.TaggedOutput(ranking_list.split, example.SerializeToString(deterministic=True))
            for item in ranking_list.tallies(USED):
                yield beam.pvalue.TaggedOutput(TALLIES, item)
            yield beam.pvalue.TaggedOutput(TALLIES, tally("lists", ranking_list.split))
            yield beam.pvalue.TaggedOutput(TALLIES, tally("pairs", ranking_list.split, len(documents)))


def make_example(
    query: Text, documents: Iterable[tuple[str, bytes, bytes]], grades: Iterable[int], negative_places: Iterable[int]
) -> tf.train.Example:
    """One listwise example (see `schemas.features`).

    Args:
      query: the query.
      documents: (doc_id, title, text) of each document, title and text in UTF-8.
      grades: its relevance.
      negative_places: its place among the list's NR documents, -1 where it is judged.
    """
    doc_ids, doc_titles, doc_texts = zip(*documents, strict=True)
    texts = {
        f.QUERY_ID: [query.id.encode()],
        f.QUERY_TITLE: [query.title.encode()],
        f.QUERY_TEXT: [query.text.encode()],
        f.DOC_ID: [doc_id.encode() for doc_id in doc_ids],
        f.DOC_TITLE: doc_titles,
        f.DOC_TEXT: doc_texts,
    }
    feature = {name: tf.train.Feature(bytes_list=tf.train.BytesList(value=values)) for name, values in texts.items()}
    for name, numbers in ((f.RELEVANCE, grades), (f.NEGATIVE_PLACE, negative_places)):
        feature[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))
    return tf.train.Example(features=tf.train.Features(feature=feature))
