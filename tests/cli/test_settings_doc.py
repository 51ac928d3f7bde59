"""docs/settings.md, which is generated from the typed settings."""

import re
from pathlib import Path

from pipeline.config import RunConfig
from pipeline.settings_file import known_keys
from pipeline.wikipedia.config import WikipediaConfig
from smooth_clir.cli.settings_doc import settings_markdown
from smooth_clir.experiments.settings import ExperimentSettings
from smooth_clir.wikipedia.settings import WikiFiles

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_document_is_what_the_settings_generate() -> None:
    is_current = DOCUMENT.read_text(encoding="utf-8") == settings_markdown()
    assert is_current, "run .venv/bin/python -m smooth_clir.cli.settings_doc > docs/settings.md"


def test_the_document_names_every_key_with_its_default_and_what_presets_have_of_their_own() -> None:
    shown = re.findall(r"^- \*\*`([\w.]+)`\*\*((?: \(.+?\))?: .+)  $", settings_markdown(), re.MULTILINE)
    assert [key for key, _ in shown] == [
        *(key for key in known_keys(RunConfig) if key not in ("loss", "beam")),  # sections, with a header each
        *known_keys(ExperimentSettings),
        *(f"wikis.LANGUAGE.{key}" for key in WikiFiles.model_fields),
        *(key for key in known_keys(WikipediaConfig) if key != "wikis"),
    ]
    text = dict(reversed(shown))
    assert text["preset"].endswith("; default `best`")
    assert text["loss.theta"].startswith(" (sosl, mse, proportional_odds, three_part_l2): ")
    assert text["training.seed"] == ": int, ≥ 0, < 2147483648; default `1`"
    learning_rate = "; default `null`; `best`, `closed`: `0.02` with the encoder mean; `polynomial`: `0.002` with"
    assert learning_rate in text["training.learning_rate"]
    assert re.search("default `0.0`; `closed`: ", text["loss.softmax_weight"])
