"""models/lexicon/settings.py: what a channel's settings may be, and what each fault says."""

import pydantic
import pytest

from models.lexicon.settings import LexiconSettings


def faults(**settings: object) -> list[tuple[str, str]]:
    """(key, message) of the faults of settings that must be refused."""
    with pytest.raises(pydantic.ValidationError) as error:
        LexiconSettings(**settings)
    return [(".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")) for one in error.value.errors()]


@pytest.mark.parametrize(
    ("given", "taken"), [(0, 0.0), (0.25, 0.25), ("1e-3", 0.001), (1e12, 1e12), ("fitted", "fitted")]
)
def test_a_weight_is_a_number_or_fitted(given: object, taken: object) -> None:
    assert LexiconSettings(weight=given).weight == taken


@pytest.mark.parametrize("weight", [-0.1, 1.1e12, float("nan"), float("inf"), 10**400, "fited", "", None, [1]])
def test_a_weight_that_is_neither_is_refused_in_one_sentence(weight: object) -> None:
    assert faults(weight=weight) == [("weight", f"must be a number from 0 to 1e12, fitted or held_out; got {weight!r}")]


@pytest.mark.parametrize("weight", [True, False])
def test_a_weight_that_is_a_truth_value_is_refused_in_one_sentence(weight: bool) -> None:
    ((key, message),) = faults(weight=weight)
    assert key == "weight" and message.startswith("must not be a truth value")


@pytest.mark.parametrize("kind", ["bm25", "tfidf", "none"])
def test_pairs_are_refused_where_nothing_is_learned(kind: str) -> None:
    ((key, message),) = faults(kind=kind, pairs="pairs.tsv")
    assert key == "pairs"
    assert message == f"must be null for the kind {kind}, which learns nothing; got 'pairs.tsv'"


def test_an_unknown_kind_is_one_fault_whatever_stands_beside_it() -> None:
    assert [key for key, _ in faults(kind="lexikon", pairs="pairs.tsv")] == ["kind"]


@pytest.mark.parametrize("weight", [0.25, 1, 1e-9, 1e6, "2.5"])
def test_pairs_have_a_weight_above_0(weight: object) -> None:
    settings = LexiconSettings(
        kind="lexicon", pairs="pairs.tsv", pairs_weight=weight, title_pairs=True, title_pairs_weight=weight
    )
    assert settings.pairs_weight == settings.title_pairs_weight == float(weight)


@pytest.mark.parametrize("key", ["pairs_weight", "title_pairs_weight"])
@pytest.mark.parametrize("weight", [0, -1, 1.1e6, float("nan"), float("inf"), "much", None, True])
def test_another_weight_of_pairs_is_refused(key: str, weight: object) -> None:
    given = {"kind": "lexicon", "pairs": "pairs.tsv", "title_pairs": True, key: weight}
    assert [name for name, _ in faults(**given)] == [key]


@pytest.mark.parametrize("key", ["pairs", "title_pairs"])
@pytest.mark.parametrize("kind", ["lexicon", "bm25", "none"])
def test_a_weight_without_its_pairs_is_refused(key: str, kind: str) -> None:
    assert faults(kind=kind, **{f"{key}_weight": 2}) == [
        (f"{key}_weight", f"must be 1 without lexicon.{key}, which it weighs; got 2")
    ]
    assert LexiconSettings(kind=kind, **{f"{key}_weight": 1}).pairs is None


def test_pairs_that_are_refused_are_one_fault_beside_their_weight() -> None:
    assert [key for key, _ in faults(kind="bm25", pairs="pairs.tsv", pairs_weight=2)] == ["pairs"]
