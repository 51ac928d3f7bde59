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


def test_a_column_a_preset_shows_what_differs_from_the_papers_and_for_whom() -> None:
    cells = dict(re.findall(r"^\| `([\w.]+)` \|(.+)\|$", settings_markdown(), re.MULTILINE))
    columns = {key: [cell.strip() for cell in row.split(" | ")][1:4] for key, row in cells.items()}
    assert columns["preset"] == ["`paper`", "`best`", "`closed`"]
    assert columns["model.epsilon"] == ["`1.0`", "", ""]
    assert columns["training.learning_rate"] == ["`null`", *2 * ["`0.02` with the encoder mean"]]
    assert columns["loss.softmax_weight"][:2] == ["`0.0`", ""] != columns["loss.softmax_weight"][1:]


def test_the_document_names_every_key() -> None:
    assert re.findall(r"^\| `([\w.]+)` \|", settings_markdown(), re.MULTILINE) == [
        *known_keys(RunConfig),
        *known_keys(ExperimentSettings),
        *(f"wikis.LANGUAGE.{key}" for key in WikiFiles.model_fields),
        *(key for key in known_keys(WikipediaConfig) if key != "wikis"),
    ]
