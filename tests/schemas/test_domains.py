"""Domains: their names, which of them a run knows, and which it cannot use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.domains import alike, check_lists, domains_to_test, domains_to_train, held_out_fault, is_domain
from schemas.splits import SPLITS

NAMES = st.text(min_size=1, max_size=5).filter(is_domain)
LISTS = {"news": {"train": 3, "eval": 1, "test": 1}, "health": {"train": 2, "eval": 2, "test": 2}}


@pytest.mark.parametrize("name", ["", " ", " news", "news ", "a/b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a\u200bb"])
def test_a_name_that_a_file_or_a_person_would_misread_is_refused(name: str) -> None:
    assert not is_domain(name)


@pytest.mark.parametrize("name", ["news", "Home & garden", "Psaumes", "新聞", "a.b-c_d"])
def test_other_names_are_domains(name: str) -> None:
    assert is_domain(name)


@pytest.mark.parametrize("names", [["news", "NEWS"], ["a", "Straße", "STRASSE"], ["news", "news"]])
def test_names_that_differ_by_case_alone_are_alike(names: list[str]) -> None:
    assert alike(names) == (names[-2], names[-1])


@given(st.lists(NAMES, unique_by=str.casefold), st.data())
def test_a_domain_is_trained_on_or_tested_and_without_held_out_ones_it_is_both(
    names: list[str], data: st.DataObject
) -> None:
    held_out = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    trained, tested = domains_to_train(held_out), domains_to_test(held_out)
    for name in names:
        is_trained, is_tested = (one.keeps(name.encode()) for one in (trained, tested))
        assert is_trained == (name not in held_out)
        assert is_tested == (name in held_out or not held_out)


def test_an_unknown_held_out_domain_is_named_with_the_nearest_known_one() -> None:
    fault = held_out_fault(["heath"], LISTS)
    assert fault == "must be domains of the collection (health, news); got 'heath'; did you mean health?"


def test_not_all_domains_can_be_held_out() -> None:
    assert held_out_fault(["health", "news"], LISTS) == (
        "must leave a domain to train on; it names all of them: health, news"
    )
    assert held_out_fault(["news"], LISTS) is None


@pytest.mark.parametrize(
    ("lists", "held_out", "fault"),
    [
        ({"train": 3, "eval": 0, "test": 1}, [], "is trained on, and must have lists in eval; it has train 3, eval 0"),
        ({"train": 0, "eval": 0, "test": 1}, [], "is trained on, and must have lists in train and eval; it has"),
        ({"train": 5, "eval": 5, "test": 0}, ["music"], "is held out, and must have lists in test; it has train 5"),
    ],
)
def test_a_domain_needs_lists_to_train_on_or_to_test(lists: dict[str, int], held_out: list[str], fault: str) -> None:
    (found,) = check_lists({**LISTS, "music": lists}, held_out)
    assert fault in found and "the domain music" in found


def test_a_held_out_domain_needs_no_judgment_of_a_train_query() -> None:
    assert check_lists({**LISTS, "music": {"test": 1}}, ["music"]) == []


def test_all_faults_are_found_at_once() -> None:
    faults = check_lists({**LISTS, "News": {"train": 1}, "music": {"test": 1}}, [])
    assert [fault.split()[0:3] for fault in faults] == [
        ["domains", "must", "differ"],
        *[["the", "domain", name] for name in ("News", "music")],
    ]


@given(st.sampled_from([[], ["news"], ["health"]]))
def test_domains_with_lists_in_every_split_have_no_fault(held_out: list[str]) -> None:
    assert check_lists(LISTS, held_out) == []
    assert set(LISTS["news"]) == set(SPLITS)
