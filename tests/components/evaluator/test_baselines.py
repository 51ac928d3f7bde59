"""The runs that an evaluation stands beside, and their names."""

import re
from pathlib import Path

import pytest

from components.evaluator.baselines import read_baselines
from schemas.errors import DataError


@pytest.fixture
def write(tmp_path: Path):
    """Writes a run of one document under a tag; returns its path."""

    def write(name: str, tag: str, score: float = 1) -> str:
        (tmp_path / name).write_text(f"q1 Q0 d1 1 {score} {tag}\n")
        return str(tmp_path / name)

    return write


def test_runs_are_named_by_their_tags_in_the_order_of_the_names(write):
    paths = [write("1", "dense", 0.25), write("2", "bm25", 7), write("3", "colbert", 3)]
    assert list(read_baselines(paths).items()) == [
        ("bm25", {"q1": {"d1": 7}}),
        ("colbert", {"q1": {"d1": 3}}),
        ("dense", {"q1": {"d1": 0.25}}),
    ]


def test_there_may_be_none():
    assert read_baselines([]) == {}


def test_two_runs_of_one_name_are_refused(write):
    first, second = write("1", "bm25"), write("2", "bm25")
    fault = f"{second}: every baseline must have a tag of its own; {first} has bm25, too."
    with pytest.raises(DataError, match=f"^{re.escape(fault)}$"):
        read_baselines([first, second])


def test_the_name_of_random_order_is_taken(write):
    with pytest.raises(DataError, match="a baseline's tag must not be random, which names random order"):
        read_baselines([write("1", "random")])


def test_a_run_of_several_names_is_refused_with_its_path(tmp_path):
    (tmp_path / "run").write_text("q1 Q0 d1 1 2 bm25\nq1 Q0 d2 2 1 dense\n")
    with pytest.raises(DataError, match=f"^{tmp_path}/run: a run must have one tag, .*; got the tags bm25, dense"):
        read_baselines([str(tmp_path / "run")])
