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
    roots = (RunConfig, ExperimentSettings, Adjustment, Claim, WikipediaConfig, WikiFiles)
    assert [name for settings in roots for name in undocumented(settings)] == []


def test_the_document_is_what_the_settings_generate_with_every_key_and_its_defaults() -> None:
    text = settings_markdown()
    is_current = DOCUMENT.read_text(encoding="utf-8") == text
    assert is_current, "run .venv/bin/python -m cli.settings_doc > docs/settings.md"
    shown = re.findall(r"^- \*\*`([\w.]+)`\*\*: (.+)  $", text, re.MULTILINE)
    assert [key for key, _ in shown] == [
        *known_keys(RunConfig),
        *known_keys(ExperimentSettings),
        *(f"wikis.LANGUAGE.{key}" for key in WikiFiles.model_fields),
        *(key for key in known_keys(WikipediaConfig) if key != "wikis"),
    ]
    assert dict(shown)["training.seed"] == "int, ≥ 0, < 2147483648; default `1`"
    # What presets have of their own.
    assert "; `polynomial`: `0.002` with" in dict(shown)["training.learning_rate"]
    assert re.search("default `0.0`; `closed`: ", dict(shown)["loss.softmax_weight"])
