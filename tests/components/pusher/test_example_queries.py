"""The queries that a pushed model offers on its page."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.pusher.component import example_queries
from schemas.domains import EVERY_DOMAIN

pytestmark = pytest.mark.tensors

MakeExamples = Callable[..., Any]


def chosen(
    folder: Path, make_examples: MakeExamples, lists: dict[str, tuple[str, dict[str, tuple[str, int]]]]
) -> list[str]:
    examples = make_examples(folder, {}, evaluation=lists)
    queries: list[str] = json.loads(
        example_queries(map(str, Path(examples.uri, "Split-eval").iterdir()), max_queries=4, domains=EVERY_DOMAIN)
    )
    return queries


def test_queries_of_a_length_that_people_type_are_chosen_and_one_for_each_mr_document(
    tmp_path: Path, make_examples: MakeExamples
) -> None:
    texts = {
        "q1": ("volcano", "d1"),
        "q2": ("molten rock that flows down a mountain", "d1"),
        "q3": ("a long sentence on wolves, " * 20, "d2"),
        "q4": ("animals that live in packs in the woods", "d2"),
        "q5": ("how bees make honey from nectar", "d3"),
    }
    lists = {query: (text, {"d9": ("un loup", 0), doc: ("un texte", 2)}) for query, (text, doc) in texts.items()}
    assert chosen(tmp_path, make_examples, lists) == [texts[name][0] for name in ("q4", "q2", "q5")]


def test_there_are_no_more_than_asked_and_the_same_ones_for_any_order(
    tmp_path: Path, make_examples: MakeExamples
) -> None:
    lists = {f"q{number}": (f"a query of number {number}", {f"d{number}": ("un texte", 1)}) for number in range(9)}
    queries = chosen(tmp_path / "one", make_examples, lists)
    assert queries == [f"a query of number {number}" for number in range(4)]
    assert chosen(tmp_path / "other", make_examples, dict(reversed(lists.items()))) == queries
