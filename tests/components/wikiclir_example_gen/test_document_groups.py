"""Groups of documents that are relevant to one query."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.document_groups import MOST_IN_ONE, DocumentGroups

few = st.integers(0, 30).map(lambda number: f"d{number}")
lists = st.lists(st.lists(few, min_size=1, max_size=4, unique=True), max_size=20)


def groups_of(relevant):
    groups = DocumentGroups()
    for doc_ids in relevant:
        groups.join(doc_ids)
    return groups


def components(relevant):
    """The same, by joining sets for as long as two of them overlap."""
    found = []
    for doc_ids in map(set, relevant):
        overlapping = [one for one in found if one & doc_ids]
        found = [one for one in found if not one & doc_ids] + [doc_ids.union(*overlapping)]
    return found


@given(lists)
def test_groups_are_the_connected_components_and_named_for_their_first_document(relevant):
    groups = groups_of(relevant)
    expected = {doc_id: min(component) for component in components(relevant) for doc_id in component}
    assert {doc_id: groups.first(doc_id) for doc_id in expected} == expected


@given(lists)
def test_a_unit_is_a_group_or_a_document_of_a_group_with_more_than_a_tenth_of_all(relevant):
    found = components(relevant)
    total = sum(map(len, found))
    assert groups_of(relevant).units() == {
        doc_id: doc_id if len(component) > total / MOST_IN_ONE else min(component)
        for component in found
        for doc_id in component
    }


@given(lists, st.randoms(), st.integers(1, 4))
def test_neither_the_order_of_the_queries_nor_the_number_of_workers_matters(relevant, random, workers):
    shuffled = random.sample(relevant, len(relevant))
    parts = [groups_of(shuffled[worker::workers]) for worker in range(workers)]
    merged = DocumentGroups()
    for part in random.sample(parts, workers):
        merged.merge(pickle.loads(pickle.dumps(part)))
    assert merged.units() == groups_of(relevant).units()
