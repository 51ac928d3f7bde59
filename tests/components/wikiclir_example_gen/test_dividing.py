"""Groups of documents, and the lists divided by them."""

import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.dividing import GROUP_DIVISOR, DocumentGroups
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
    joined = []
    for doc_ids in map(set, relevant):
        overlapping = [component for component in joined if component & doc_ids]
        joined = [component for component in joined if not component & doc_ids] + [doc_ids.union(*overlapping)]
    return joined


@given(lists)
def test_a_unit_is_a_connected_component_or_a_document_of_one_with_more_than_a_tenth_of_all(relevant):
    groups, total = groups_of(relevant), sum(map(len, components(relevant)))
    for component in components(relevant):
        for doc_id in component:
            assert groups.first(doc_id) == min(component)
            assert groups.units()[doc_id] == (doc_id if len(component) > total / GROUP_DIVISOR else min(component))
    assert len(groups.units()) == total


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
        related = draw(st.dictionaries(st.integers(1, 4), st.integers(0, TOP_GRADE), max_size=4))
        grades = {f"d{first + offset}": grade for offset, grade in {0: TOP_GRADE, **related}.items()}
        judged = draw(st.sets(st.sampled_from(sorted(grades))))
        used = {"candidates": list(grades), "judgments": sorted(judged)}
        split = draw(st.sampled_from(SPLITS))
        lists[f"q{query}"] = RankingList(split, query, grades, [], used)
    return lists


def units_of(lists):
    return groups_of(ranking_list.relevant() for ranking_list in lists.values()).units()


def divide(lists, by_documents, cold_share):
    """The kept lists, and the numbers of dropped records of each role."""
    from components.wikiclir_example_gen.dividing import DivideLists, GroupDocuments

    group = GroupDocuments()
    accumulators = [group.create_accumulator() for _ in range(3)]
    for number, element in enumerate(lists.items()):
        accumulators[number % 3] = group.add_input(accumulators[number % 3], element)
    units = group.extract_output(group.merge_accumulators(accumulators))
    step = DivideLists(IngestSettings(1, SEED, None, TOP_GRADE, "documents" if by_documents else "queries", cold_share))
    kept, dropped = {}, Counter()
    for element in lists.items():
        for output in step.process(element, units):
            if isinstance(output, tuple):
                kept[output[0]] = output[1]
            else:
                (role, reason), (count, _) = output.value
                assert reason in ("COLD", "OTHER_SPLIT")
                dropped[role] += count
    return kept, dropped


def records(lists):
    """The number of used records of each role."""
    counts = Counter(queries=len(lists))
    for ranking_list in lists.values():
        counts.update({role: len(doc_ids) for role, doc_ids in ranking_list.used.items()})
    return counts


def relevant_in(lists, split):
    """The documents that are relevant in a split."""
    in_split = [ranking_list for ranking_list in lists.values() if ranking_list.split == split]
    return {doc_id for ranking_list in in_split for doc_id in ranking_list.relevant()}


@given(ranking_lists(), st.sampled_from([0, 0.3]))
def test_no_unit_is_divided_among_the_splits(lists, cold_share):
    units, (kept, _) = units_of(lists), divide(lists, True, cold_share)
    for split in SPLITS:
        assert all(split_of(units[doc_id]) == split for doc_id in relevant_in(kept, split))


@given(ranking_lists())
def test_every_query_stays_with_its_first_mr_document_and_loses_documents_of_too_large_groups_alone(lists):
    units, (kept, _) = units_of(lists), divide(lists, True, 0)
    assert kept.keys() == lists.keys()
    for query_id, whole in lists.items():
        assert next(iter(kept[query_id].grades)) == next(iter(whole.grades))
        lost = whole.grades.keys() - kept[query_id].grades.keys()
        assert all(whole.grades[doc_id] > 0 and units[doc_id] == doc_id for doc_id in lost)


@given(ranking_lists(), st.booleans(), st.floats(0, 0.9))
def test_train_and_eval_know_no_cold_document_and_every_record_is_used_or_dropped(lists, by_documents, share):
    units, (kept, dropped) = units_of(lists), divide(lists, by_documents, share)
    for split in ("train", "eval"):
        assert not any(is_cold(units[doc_id], SEED, share) for doc_id in relevant_in(kept, split))
    assert records(lists) == records(kept) + dropped
    assert all({*ranking_list.used["candidates"]} == ranking_list.grades.keys() for ranking_list in kept.values())
    if not by_documents:
        assert all(kept[query_id] == whole for query_id, whole in lists.items() if whole.split == "test")


@given(ranking_lists())
def test_without_a_cold_share_lists_in_splits_of_queries_stay_as_they_are(lists):
    assert divide(lists, False, 0) == (lists, Counter())
