"""The schema of configurations refuses what the product refuses, as far as keys, types, limits and choices go."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pydantic
import pytest
import yaml

from pipeline.config import RunConfig
from pipeline.config_schema import SCHEMA_FILE, config_schema
from pipeline.presets import with_preset
from tests.bad_input.case import Case
from tests.bad_input.configurations import CONFIGURATIONS
from tests.bad_input.spoil import CONFIG

CASES = [case for case in CONFIGURATIONS if case.arguments == ("run", "run.yaml")]
ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(config_schema())
BEYOND = {"value_error", "string_unicode"}
"""The faults of settings that no schema knows: what one setting asks of another, or of its text."""


def is_taken(content: Any) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(content)


def test_the_published_schema_is_what_the_settings_generate() -> None:
    is_current = (ROOT / "docs" / SCHEMA_FILE).read_text(encoding="utf-8") == config_schema()
    assert is_current, "run .venv/bin/python -m pipeline.config_schema > docs/clir.schema.json"


@pytest.mark.parametrize("path", sorted(str(one.relative_to(ROOT)) for one in (ROOT / "configs").rglob("*.yaml")))
def test_it_takes_every_configuration_of_a_run(path: str) -> None:
    content = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if "data" in content and "output" in content and "grid" not in content:
        assert is_taken(content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_refuses_what_the_product_refuses(case: Case, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(CONFIG)
    case.make(tmp_path)
    try:
        content = yaml.safe_load((tmp_path / "run.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return
    if not isinstance(content, dict):
        assert not is_taken(content)
        return
    try:
        RunConfig.model_validate(with_preset(content, RunConfig))
    except pydantic.ValidationError as error:
        if not {fault["type"] for fault in error.errors()} <= BEYOND:
            assert not is_taken(content)
