"""Laws of every setting: its bounds, the keys of its section, its documentation, and that it is frozen."""

import copy
import json
import math
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import jsonschema
import pydantic
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.transform.settings import TransformSettings
from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.config_schema import SCHEMA_FILE, config_schema
from pipeline.settings_file import SettingsField, settings_fields
from pipeline.wikipedia.config import WikipediaConfig
from schemas.errors import ConfigError
from schemas.settings import KindSettings, Settings
from smooth_clir.experiments.settings import ExperimentSettings
from smooth_clir.serving.settings import ServiceSettings
from tests.bad_input.collection import CONFIG

TOP = (RunConfig, ExperimentSettings, WikipediaConfig, ServiceSettings, TransformSettings)
"""Settings whose imports bring the sections in them, and the own settings of parts."""
FIELDS = [*settings_fields(RunConfig)]
BASES = {item.name.rpartition(".")[0]: item.section for item in FIELDS if item.section}
"""The sections that have several kinds."""
NUMBERS = [
    item
    for item in FIELDS
    if {int, float} & {item.field.annotation, *get_args(item.field.annotation)}
    and get_origin(item.field.annotation) is not tuple
]
"""The numbers of a run."""
BELOW_1 = {
    "data.cold_share",
    "channels.towers.dropout",
    "channels.towers.encoder.dropout",
    "channels.towers.encoder.word_dropout",
    "evaluation.significance",
    "search.milvus.vector_index.m",
}
"""Those that cannot be 1."""
REQUIRED = {
    "path": "model", "address": "http://h", "query_model": "m", "query_vectors": "q.npy", "document_vectors": "d.npy",
    "command": ["x"], "endpoint": "h:1", "environment": "loopback", "project": "p1", "region": "r1",
    "temp_location": "gs://b",
}  # fmt: skip
"""A value for each setting that a kind must be given."""
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


ALL = sorted({*subclasses(Settings)}, key=lambda section: f"{section.__module__}.{section.__name__}")
SECTIONS = [section for section in ALL if not (issubclass(section, KindSettings) and section.is_base())]
"""Every section, and of those of several kinds each kind."""
EVERY_SECTION = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)


def kinds_for(item: SettingsField) -> dict[str, object]:
    """The settings of the kinds that have a setting, for each section above it that has several."""
    chosen: dict[str, object] = {}
    for section, base in BASES.items():
        if item.name.startswith(f"{section}."):
            kind = next(
                (kind for kind in item.kinds if kind in base.kinds), base.default_kind or next(iter(base.kinds))
            )
            chosen[f"{section}.{base.kind_key}"] = kind
            fields = base.kinds[kind].model_fields
            chosen |= {f"{section}.{name}": value for name, value in REQUIRED.items() if name in fields}
    return chosen


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
        assert field.description or name == getattr(section, "kind_key", None), name
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            setattr(section.model_construct(), name, 1)


@pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
def test_the_documentation_of_a_kind_names_all_kinds(base: type[KindSettings]) -> None:
    assert all(kind in str(base.model_fields[base.kind_key].description) for kind in base.kinds)


@EVERY_SECTION
def test_no_setting_but_a_switch_takes_a_bare_yes_or_no(section: type[Settings]) -> None:
    for name, field in section.model_fields.items():
        assert (name in refused(section, {name: False})) == (field.annotation is not bool), name


# In a file


def fault_of(config_file: Path, override: str, item: SettingsField) -> str:
    """The fault that an override causes in the kind that a setting is of."""
    with pytest.raises(ConfigError) as error:
        load_config(
            str(config_file), [*(f"{key}={json.dumps(kind)}" for key, kind in kinds_for(item).items()), override]
        )
    (fault,) = (fault for fault in error.value.faults if fault.startswith(f"--set {override}: "))
    return fault.removeprefix(f"--set {override}: ")


@pytest.mark.parametrize("value", [-1, 10**30])
def test_every_number_of_a_run_has_two_bounds_and_a_number_beyond_is_named_and_shown(
    config_file: Path, value: int
) -> None:
    for item in NUMBERS:
        fault = fault_of(config_file, f"{item.name}={value}", item)
        assert fault.startswith(f"{item.name}: ") and fault.endswith(f"; got {value}"), item.name


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    item=st.sampled_from(
        [item for item in FIELDS if item.name.rpartition(".")[0] != "channels"]
    ),  # others are channels
    data=st.data(),
)
def test_a_misspelt_key_is_unknown_and_the_nearest_is_named(
    config_file: Path, item: SettingsField, data: st.DataObject
) -> None:
    key = item.name
    position = data.draw(st.integers(key.rfind(".") + 1, len(key) - 1))
    misspelt = f"{key[:position]}{key[position]}{key[position:]}"
    fault = fault_of(config_file, f"{misspelt}=3", item)
    assert fault.startswith(f"{misspelt}: ") and fault.endswith(f"; did you mean {key}?")


# The published pages


@pytest.mark.parametrize(("value", "is_taken"), [(-1, False), (1, True), ("1", False)])
def test_the_schema_knows_every_number_s_bounds_and_every_key(value: object, is_taken: bool) -> None:
    good = yaml.safe_load(CONFIG)
    assert SCHEMA.is_valid(good) and not SCHEMA.is_valid({**good, "outputs": "out"}) and not SCHEMA.is_valid([good])
    for item in NUMBERS:
        content = copy.deepcopy(good)
        for key, given_value in {**kinds_for(item), item.name: value}.items():
            *sections, name = key.split(".")
            reduce(lambda section, above: section.setdefault(above, {}), sections, content)[name] = given_value
        assert SCHEMA.is_valid(content) == (is_taken and item.name not in BELOW_1), item.name


def test_the_published_schema_is_what_the_settings_generate() -> None:
    is_current = (ROOT / "docs" / SCHEMA_FILE).read_text(encoding="utf-8") == config_schema()
    assert is_current, "run .venv/bin/python -m pipeline.config_schema > docs/clir.schema.json"


@pytest.mark.parametrize("path", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "configs").rglob("*.yaml")))
def test_the_schema_takes_every_configuration_of_a_run(path: str) -> None:
    content = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if "data" in content and "output" in content and "grid" not in content:
        SCHEMA.validate(content)
