"""Domains: their names, which of them a run knows, and which it cannot use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.domains import alike, check_lists, domains_to_test, domains_to_train, held_out_fault, is_domain

NAMES = st.text(min_size=1, max_size=5).filter(is_domain)
LISTS = {"news": {"train": 3, "eval": 1, "test": 1}, "health": {"train": 2, "eval": 2, "test": 2}}


@pytest.mark.parametrize("name", ["", " ", " news", "news ", "a/b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a\u200bb"])
def test_a_name_that_a_file_or_a_person_would_misread_is_refused(name: str) -> None:
    assert not is_domain(name)
    assert all(map(is_domain, ["news", "Home & garden", "Psaumes", "新聞", "a.b-c_d"]))


@pytest.mark.parametrize(
    "names",
    [["news", "NEWS"], ["a", "Straße", "STRASSE"], ["news", "news"], ["caf\u00e9", "cafe\u0301"], ["\u1e61", "\u1e9b"]],
)
def test_names_that_differ_by_case_or_normalisation_alone_are_alike(names: list[str]) -> None:
    assert alike(names) == (names[-2], names[-1])


@given(st.lists(NAMES, unique_by=str.casefold), st.data())
def test_a_domain_is_trained_on_or_tested_and_without_held_out_ones_it_is_both(
    names: list[str], data: st.DataObject
) -> None:
    held_out = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    trained, tested = domains_to_train(held_out), domains_to_test(held_out)
    for name in names:
        is_trained, is_tested = (domains.keeps(name.encode()) for domains in (trained, tested))
        assert is_trained == (name not in held_out)
        assert is_tested == (name in held_out or not held_out)


def test_held_out_domains_are_known_and_leave_one_to_train_on() -> None:
    unknown = held_out_fault(["heath"], LISTS)
    assert unknown and "(health, news)" in unknown and "'heath'" in unknown and unknown.endswith("health?")
    assert str(held_out_fault(["health", "news"], LISTS)).endswith("health, news")
    assert held_out_fault(["news"], LISTS) is None


@pytest.mark.parametrize(
    ("lists", "held_out", "splits"),
    [
        ({"train": 3, "eval": 0, "test": 1}, [], ["in eval;", "eval 0"]),
        ({"train": 0, "eval": 0, "test": 1}, [], ["in train and eval;", "train 0"]),
        ({"train": 5, "eval": 5, "test": 0}, ["music"], ["in test;", "test 0"]),
        ({"test": 1}, ["music"], []),
    ],
)
def test_a_domain_needs_lists_to_train_on_or_to_test(
    lists: dict[str, int], held_out: list[str], splits: list[str]
) -> None:
    faults = check_lists({**LISTS, "music": lists}, held_out)
    assert len(faults) == bool(splits)
    assert all(word in faults[0] for word in splits and ["the domain music", *splits])


def test_all_faults_are_found_at_once() -> None:
    alike, *faults = check_lists({**LISTS, "News": {"train": 1}, "music": {"test": 1}}, [])
    assert "news" in alike and ["News" in faults[0], "music" in faults[1], len(faults)] == [True, True, 2]
    assert all(check_lists(LISTS, held_out) == [] for held_out in ([], ["news"], ["health"]))
