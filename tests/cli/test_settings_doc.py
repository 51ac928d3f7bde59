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
    text = settings_markdown()
    shown: dict[tuple[str, str], list[str]] = {}
    for name, tables in re.findall(r"^## Settings of (.+?)$(.+?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
        for section, table in re.findall(r"(?:\A|^###+ ([\w.]+)$)(.+?)(?=^###|\Z)", tables, re.MULTILINE | re.DOTALL):
            rows = re.findall(r"^\| `([\w.]+)`(.*) \| (.+) \| (.+) \|$", table, re.MULTILINE)
            shown |= {(name, f"{section}.{key}".removeprefix(".")): row for key, *row in rows}
    run = {key for name, key in shown if name == "a run"}
    sections = {key.rpartition(".")[0] for key in run} | {"evaluation.query_translator"}
    described = {key for key in known_keys(RunConfig) if ".sha256." not in key and key not in sections}
    others = {key for key in described if key.startswith("evaluation.query_translator.")}
    assert run == described - others - {"channels.cl_lsi.kind"}  # which has a single value
    assert {key for name, key in shown if name == "an experiment"} == {*known_keys(ExperimentSettings)}
    wikis = {f"wikis.LANGUAGE.{key}" for key in WikiFiles.model_fields}
    assert {key for name, key in shown if name == "a collection from dumps"} == wikis | {
        key for key in known_keys(WikipediaConfig) if key != "wikis"
    }
    values = {key: value for (name, key), (_, value, _) in shown.items() if name == "a run"}
    assert values["preset"].startswith("**best**, paper, closed, ")
    assert values["training.seed"] == "**1**, ≥ 0"
    assert values["channels.towers.encoder.dropout"] == "**0.0** (mean, polynomial), **0.4** (cnn, lstm), 0 to 0.999"
    kinds, _, meaning = shown["a run", "loss.theta"]
    assert kinds == " (sosl, mse, proportional_odds, three_part_l2)" and meaning.startswith("Thresholds, ")
    own = "*best*, *closed*: `0.02` with the encoder mean; *polynomial*: `0.002` with the encoder polynomial."
    assert shown["a run", "training.learning_rate"][2].endswith(own)
    assert "It has the settings of [channels.lexicon.translator](#channelslexicontranslator)." in text
