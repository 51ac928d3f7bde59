"""docs/settings.md, which is generated from the typed settings."""

import re
from collections.abc import Iterator
from pathlib import Path

from cli.settings_doc import settings_markdown
from experiments.settings import Adjustment, Claim, ExperimentSettings
from pipeline.config import RunConfig
from pipeline.settings_file import known_keys
from pipeline.wikipedia.config import WikipediaConfig
from schemas.settings import Settings
from wikipedia.settings import WikiFiles

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def undocumented(settings: type[Settings]) -> Iterator[str]:
    """Fields without a docstring, of a section and of those in it."""
    for name, field in settings.model_fields.items():
        if not field.description:
            yield f"{settings.__name__}.{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            yield from undocumented(field.annotation)


def test_every_field_has_a_docstring() -> None:
    assert [
        name
        for settings in (RunConfig, ExperimentSettings, Adjustment, Claim, WikipediaConfig, WikiFiles)
        for name in undocumented(settings)
    ] == []


def test_the_document_is_what_the_settings_generate() -> None:
    is_current = DOCUMENT.read_text(encoding="utf-8") == settings_markdown()
    assert is_current, "run .venv/bin/python -m cli.settings_doc > docs/settings.md"


def test_a_setting_shows_its_default_and_what_presets_have_of_their_own() -> None:
    shown = dict(re.findall(r"^- \*\*`([\w.]+)`\*\*: (.+)  $", settings_markdown(), re.MULTILINE))
    assert shown["preset"].endswith("; default `best`")
    assert shown["training.seed"] == "int, ≥ 0, < 2147483648; default `1`"
    learning_rate = "; default `null`; `best`, `closed`: `0.02` with the encoder mean; `polynomial`: `0.002` with"
    assert learning_rate in shown["training.learning_rate"]
    assert re.search("default `0.0`; `closed`: ", shown["loss.softmax_weight"])


def test_the_document_names_every_key() -> None:
    assert re.findall(r"^- \*\*`([\w.]+)`\*\*:", settings_markdown(), re.MULTILINE) == [
        *known_keys(RunConfig),
        *known_keys(ExperimentSettings),
        *(f"wikis.LANGUAGE.{key}" for key in WikiFiles.model_fields),
        *(key for key in known_keys(WikipediaConfig) if key != "wikis"),
    ]
