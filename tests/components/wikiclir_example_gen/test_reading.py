"""The filter of documents that lists need."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.stages  # it imports Beam

ids = st.integers(0, 12).map(lambda number: f"d{number}")
lists = st.dictionaries(st.integers(0, 20).map(str), st.sets(ids), max_size=10)


@given(lists, st.integers(1, 4))
def test_each_document_has_the_queries_of_its_lists_however_many_workers_count(query_documents, workers):
    from components.wikiclir_example_gen.lists import RankingList
    from components.wikiclir_example_gen.reading import NeededDocuments

    combine = NeededDocuments()
    accumulators = [combine.create_accumulator() for _ in range(workers)]
    for number, (query_id, doc_ids) in enumerate(query_documents.items()):
        element = (query_id, RankingList("train", 1, dict.fromkeys(doc_ids, 1), [], {}))
        accumulators[number % workers] = combine.add_input(accumulators[number % workers], element)
    needed = pickle.loads(combine.extract_output(combine.merge_accumulators(accumulators)))
    doc_ids = [f"d{number}" for number in range(14)]
    document_queries = needed.query_ids(doc_id.encode() for doc_id in doc_ids)
    for doc_id, query_ids in zip(doc_ids, document_queries, strict=True):
        assert sorted(query_ids) == sorted(query for query, documents in query_documents.items() if doc_id in documents)
