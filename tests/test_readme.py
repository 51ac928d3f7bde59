"""The front page: short, and true."""

import re

import pytest
import yaml

from pipeline.config import RunConfig
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT, grade_name
from tests.test_imports import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_it_is_read_in_a_few_minutes() -> None:
    assert 8_000 <= len(README.encode()) <= 10_000


def test_the_lines_of_the_demo_are_those_of_its_whole_output() -> None:
    demo = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8").splitlines()
    (shown,) = (block for block in blocks("text") if block.startswith("test split"))
    assert len(shown.splitlines()) == 5
    assert [line for line in shown.splitlines() if line not in demo] == []


def test_its_configuration_is_one() -> None:
    (configuration,) = blocks("yaml")
    assert RunConfig.model_validate(yaml.safe_load(configuration)).data.document_language == "it"


@pytest.mark.parametrize("grade", [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT])
def test_the_short_names_of_grades_are_explained(grade: int) -> None:
    (row,) = (line for line in README.splitlines() if line.startswith("| MR, SR, NR |"))
    assert grade_name(grade, MOST_RELEVANT) in row
    assert f"({'grade ' * (grade == MOST_RELEVANT)}{grade})" in row
