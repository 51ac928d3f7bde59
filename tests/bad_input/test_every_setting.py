"""Laws of every setting: its bounds, the keys of its section, its documentation, and that it is frozen."""

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import jsonschema
import pydantic
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.transform.settings import TransformSettings
from pipeline.config import RunConfig, load_config
from pipeline.config_schema import SCHEMA_FILE, config_schema
from pipeline.settings_file import known_keys, settings_fields
from pipeline.wikipedia.config import WikipediaConfig
from schemas.errors import ConfigError
from schemas.settings import Settings
from smooth_clir.experiments.settings import ExperimentSettings
from smooth_clir.serving.settings import ServiceSettings
from tests.bad_input.collection import CONFIG

TOP = (RunConfig, ExperimentSettings, WikipediaConfig, ServiceSettings, TransformSettings)
"""Settings whose imports bring the sections in them, and the own settings of parts."""
NUMBERS = [
    key
    for key, field in settings_fields(RunConfig)
    if {int, float} & {field.annotation, *get_args(field.annotation)} and get_origin(field.annotation) is not tuple
]
"""The numbers of a run."""
BELOW_1 = {
    "data.cold_share",
    "model.dropout",
    "model.word_dropout",
    "evaluation.significance",
    "search.milvus.vector_index.m",
}
"""Those that cannot be 1."""
ROOT = Path(__file__).parents[2]
KEYWORDS = {
    "minimum": (-1, True),
    "exclusiveMinimum": (-1, False),
    "maximum": (1, True),
    "exclusiveMaximum": (1, False),
}
"""JSON Schema's keywords for bounds: the side (1 refuses larger numbers), and whether the limit itself is taken."""
SCHEMA = jsonschema.Draft202012Validator(json.loads(config_schema()))


def subclasses(section: type[Settings]) -> Iterator[type[Settings]]:
    """Every section of the product."""
    for subclass in section.__subclasses__():
        if not subclass.__module__.startswith("tests."):
            yield subclass
        yield from subclasses(subclass)


SECTIONS = sorted({*subclasses(Settings)}, key=lambda section: f"{section.__module__}.{section.__name__}")
EVERY_SECTION = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)


class Bound(NamedTuple):
    """A bound of a number."""

    limit: float
    side: int
    is_inclusive: bool
    is_integer: bool

    def beyond(self, distance: float) -> float:
        """A number that the bound refuses, at about this distance from the first."""
        if self.is_integer:
            return int(self.limit) + self.side * (max(math.ceil(distance), 1) - (not self.is_inclusive))
        first = math.nextafter(self.limit, self.side * math.inf) if self.is_inclusive else self.limit
        return self.side * max(self.side * first, self.side * (self.limit + self.side * distance))

    @property
    def last(self) -> float:
        """The outermost number that it takes."""
        if self.is_integer:
            return int(self.limit) - self.side * (not self.is_inclusive)
        return self.limit if self.is_inclusive else math.nextafter(self.limit, -self.side * math.inf)


@cache
def bounds_of(section: type[Settings]) -> list[tuple[str, Bound]]:
    """The bounds of a section's numbers, each with its number's name."""
    return [
        (name, Bound(form[keyword], side, is_inclusive, form["type"] == "integer"))
        for name, schema in section.model_json_schema().get("properties", {}).items()
        for form in schema.get("anyOf", [schema])
        for keyword, (side, is_inclusive) in KEYWORDS.items()
        if keyword in form
    ]


def refused(section: type[Settings], content: dict[str, Any]) -> set[str]:
    """The names of the settings that are refused."""
    try:
        section.model_validate(content)
    except pydantic.ValidationError as error:
        return {str(fault["loc"][0]) for fault in error.errors() if fault["loc"]}
    return set()


@pytest.mark.parametrize(
    "section", [section for section in SECTIONS if bounds_of(section)], ids=lambda section: section.__name__
)
@given(distance=st.floats(1e-9, 1e30))
def test_a_bound_takes_its_last_number_and_refuses_the_next_and_what_is_no_number(
    section: type[Settings], distance: float
) -> None:
    for name, bound in bounds_of(section):
        for value in (bound.beyond(0), bound.beyond(distance), math.nan, bound.side * math.inf):
            assert name in refused(section, {name: value}), (name, value)
        try:
            section.model_validate({name: bound.last})
        except pydantic.ValidationError as error:
            faults = [fault for fault in error.errors() if fault["loc"] == (name,)]
            assert {fault["type"] for fault in faults} <= {"value_error"}, (name, bound.last)


@EVERY_SECTION
def test_a_section_is_closed_frozen_and_documented(section: type[Settings]) -> None:
    with pytest.raises(pydantic.ValidationError, match="no_such_key"):
        section.model_validate({"no_such_key": 1})
    for name, field in section.model_fields.items():
        assert field.description, name
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            setattr(section.model_construct(), name, 1)


@EVERY_SECTION
def test_no_setting_but_a_switch_takes_a_bare_yes_or_no(section: type[Settings]) -> None:
    for name, field in section.model_fields.items():
        assert (name in refused(section, {name: False})) == (field.annotation is not bool), name


# In a file


def faults_of(config_file: Path, overrides: list[str]) -> dict[str, str]:
    """The faults that overrides cause, by the override."""
    with pytest.raises(ConfigError) as error:
        load_config(str(config_file), overrides)
    faults = [fault.removeprefix("--set ").partition(": ")[::2] for fault in error.value.faults]
    assert len(dict(faults)) == len(faults)
    return dict(faults)


@pytest.mark.parametrize("value", [-1, 10**30])
def test_every_number_of_a_run_has_two_bounds_and_a_number_beyond_is_named_and_shown(
    config_file: Path, value: int
) -> None:
    overrides = {f"{key}={value}": key for key in NUMBERS}
    faults = faults_of(config_file, [*overrides])
    for override, key in overrides.items():
        assert faults[override].startswith(f"{key}: ") and faults[override].endswith(f"; got {value}"), override


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(known_keys(RunConfig)), data=st.data())
def test_a_misspelt_key_is_unknown_and_the_nearest_is_named(config_file: Path, key: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(key.rfind(".") + 1, len(key) - 1))
    misspelt = f"{key[:position]}{key[position]}{key[position:]}"
    (fault,) = faults_of(config_file, [f"{misspelt}=3"]).values()
    assert fault.startswith(f"{misspelt}: ") and fault.endswith(f"; did you mean {key}?")


# The published pages


@pytest.mark.parametrize(("value", "is_taken"), [(-1, False), (1, True), ("1", False)])
def test_the_schema_knows_every_number_s_bounds_and_every_key(value: object, is_taken: bool) -> None:
    good = yaml.safe_load(CONFIG)
    assert SCHEMA.is_valid(good) and not SCHEMA.is_valid({**good, "outputs": "out"}) and not SCHEMA.is_valid([good])
    for key in NUMBERS:
        *sections, name = key.split(".")
        content = {name: value}
        for section in reversed(sections):
            content = {section: content}
        if key.startswith("data."):
            content = {"data": {**good["data"], name: value}}
        assert SCHEMA.is_valid({**good, **content}) == (is_taken and key not in BELOW_1), key


def test_the_published_schema_is_what_the_settings_generate() -> None:
    is_current = (ROOT / "docs" / SCHEMA_FILE).read_text(encoding="utf-8") == config_schema()
    assert is_current, "run .venv/bin/python -m pipeline.config_schema > docs/clir.schema.json"


@pytest.mark.parametrize("path", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "configs").rglob("*.yaml")))
def test_the_schema_takes_every_configuration_of_a_run(path: str) -> None:
    content = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if "data" in content and "output" in content and "grid" not in content:
        SCHEMA.validate(content)
