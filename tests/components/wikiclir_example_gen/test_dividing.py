"""Groups of documents, and the lists divided by them."""

import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.dividing import MOST_IN_ONE, DocumentGroups
from components.wikiclir_example_gen.lists import IngestSettings
from components.wikiclir_example_gen.sampling import is_cold
from schemas.splits import SPLITS, split_of

pytestmark = pytest.mark.stages  # it imports Beam

few = st.integers(0, 30).map(lambda number: f"d{number}")
lists = st.lists(st.lists(few, min_size=1, max_size=4, unique=True), max_size=20)


def groups_of(relevant):
    groups = DocumentGroups()
    for doc_ids in relevant:
        groups.join(doc_ids)
    return groups


def components(relevant):
    """The connected components, by joining sets as long as two of them overlap."""
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


SEED = 7
TOP_GRADE = 2


@st.composite
def ranking_lists(draw):
    """Lists of up to 25 queries: chains of related documents, some longer than a tenth of all."""
    from components.wikiclir_example_gen.lists import RankingList

    lists = {}
    for query in range(draw(st.integers(1, 25))):
        first = draw(st.integers(0, 60))
        others = draw(st.dictionaries(st.integers(1, 4), st.integers(0, TOP_GRADE), max_size=4))
        grades = {f"d{first + place}": grade for place, grade in {0: TOP_GRADE, **others}.items()}
        judged = draw(st.sets(st.sampled_from(sorted(grades))))
        used = {"candidates": list(grades), "judgments": sorted(judged)}
        split = draw(st.sampled_from(SPLITS))
        lists[f"q{query}"] = RankingList(split, query, grades, [], used)
    return lists


def units_of(lists):
    groups = DocumentGroups()
    for one in lists.values():
        groups.join(one.relevant())
    return groups.units()


def divide(lists, by_documents, cold_share):
    """The kept lists, and the numbers of dropped records of each role."""
    from components.wikiclir_example_gen.dividing import DivideLists, GroupDocuments

    group = GroupDocuments()
    accumulators = [group.create_accumulator() for _ in range(3)]
    for place, element in enumerate(lists.items()):
        accumulators[place % 3] = group.add_input(accumulators[place % 3], element)
    units = group.extract_output(group.merge_accumulators(accumulators))
    step = DivideLists(IngestSettings(1, SEED, None, TOP_GRADE, "documents" if by_documents else "queries", cold_share))
    kept, dropped = {}, Counter()
    for element in lists.items():
        for output in step.process(element, units):
            if isinstance(output, tuple):
                kept[output[0]] = output[1]
            else:
                (role, reason), (count, _) = output.value
                dropped[role, reason] += count
    return kept, dropped


def relevant_in(lists):
    """The documents that are relevant in each split."""
    return {split: {d for one in lists.values() if one.split == split for d in one.relevant()} for split in SPLITS}


@given(ranking_lists(), st.sampled_from([0, 0.3]))
def test_no_document_is_relevant_in_two_splits_and_no_unit_is_divided(lists, cold_share):
    units = units_of(lists)
    kept, _ = divide(lists, True, cold_share)
    relevant = relevant_in(kept)
    assert sum(map(len, relevant.values())) == len(set().union(*relevant.values()))
    for split, doc_ids in relevant.items():
        assert all(split_of(units[doc_id]) == split for doc_id in doc_ids)


@given(ranking_lists())
def test_every_query_stays_with_its_first_mr_document_and_loses_documents_of_too_large_groups_alone(lists):
    units = units_of(lists)
    kept, _ = divide(lists, True, 0)
    assert kept.keys() == lists.keys()
    for query_id, one in lists.items():
        assert next(iter(kept[query_id].grades)) == next(iter(one.grades))
        lost = one.grades.keys() - kept[query_id].grades.keys()
        assert all(one.grades[doc_id] > 0 and units[doc_id] == doc_id for doc_id in lost)


@given(ranking_lists(), st.booleans(), st.floats(0, 0.9))
def test_train_and_eval_know_no_cold_document_as_relevant_and_test_lists_are_whole(lists, by_documents, share):
    units = units_of(lists)
    kept, _ = divide(lists, by_documents, share)
    relevant = relevant_in(kept)
    for split in ("train", "eval"):
        assert not any(is_cold(units[doc_id], SEED, share) for doc_id in relevant[split])
    if not by_documents:
        tests = {query_id: one for query_id, one in lists.items() if one.split == "test"}
        assert {query_id: one for query_id, one in kept.items() if one.split == "test"} == tests


@given(ranking_lists(), st.booleans(), st.floats(0, 0.9))
def test_every_used_record_stays_used_or_is_counted_as_dropped(lists, by_documents, share):
    def used(some):
        records = Counter(queries=len(some))
        for one in some.values():
            records.update({role: len(doc_ids) for role, doc_ids in one.used.items()})
        return records

    kept, dropped = divide(lists, by_documents, share)
    of_role = Counter()
    for (role, reason), count in dropped.items():
        assert reason in ("COLD", "OTHER_SPLIT")
        of_role[role] += count
    assert used(lists) == used(kept) + of_role
    for one in kept.values():
        assert set(one.used["candidates"]) == one.grades.keys()


@given(ranking_lists())
def test_without_a_cold_share_lists_in_splits_of_queries_stay_as_they_are(lists):
    assert divide(lists, False, 0) == (lists, Counter())
