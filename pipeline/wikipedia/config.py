"""The configuration of `clir wikipedia`, and the folder that it writes."""

import re
from collections.abc import Sequence
from typing import Annotated, Final

import pydantic
from pydantic import Field, field_validator, model_validator

from pipeline.input_faults import check_inputs
from pipeline.input_files import files_of_dump
from pipeline.layout import CONFIG_FILE
from pipeline.made_folder import Made, made_fault
from pipeline.settings_file import apply_override, describe_fault, location_of, read_settings_file
from schemas.errors import ConfigError
from schemas.settings import OutputPath, path_settings
from schemas.wikiclir import CANDIDATES_FILE, CARD_FILE, MANIFEST_FILE, PAIRS_FILE
from smooth_clir.wikipedia.settings import WikipediaSettings

ACCOUNT_FILE: Final = "wikipedia.json"
"""Marks a folder as ours, and lists our files in it."""

_SHARD: Final = r"(?:-\d{5}-of-\d{5})?"
_FIXED: Final = (CANDIDATES_FILE, CARD_FILE, MANIFEST_FILE, PAIRS_FILE, CONFIG_FILE)
_PAIR: Final = re.compile("[a-z]{2}_[a-z]{2}")
_NAMES: Final = (
    rf"wiki_[a-z]{{2}}\.(?:queries|documents){_SHARD}",
    rf"[a-z]{{2}}2[a-z]{{2}}\.rel{_SHARD}",
    rf"{re.escape(CANDIDATES_FILE)}{_SHARD}",
    *map(re.escape, _FIXED),
)

WIKIPEDIA_MADE: Final = Made("wikipedia", "collection from dumps", ACCOUNT_FILE, re.compile("|".join(_NAMES)), _PAIR)


class WikipediaConfig(WikipediaSettings):
    """Dumps, and the collections to make of them."""

    pairs: Annotated[list[str], Field(min_length=1)]
    """The languages of the queries and of the documents of each collection: `en-fr`; `en-en` pairs a wiki with itself.
    Each dump is read once for all collections."""
    output: Annotated[str, Field(min_length=1), OutputPath()]
    """Folder of the collection. Several collections get a folder each in it, such as `en_fr`."""

    @field_validator("pairs")
    @classmethod
    def _check_pairs(cls, pairs: list[str]) -> list[str]:
        if bad := [pair for pair in pairs if len(pair.split("-")) != 2]:
            raise ValueError(f"must be two language codes each, such as en-fr; got {', '.join(bad)}")
        if len(set(pairs)) < len(pairs):
            raise ValueError(f"must differ; got {', '.join(pairs)}")
        return pairs

    @model_validator(mode="after")
    def _check_dumps(self) -> "WikipediaConfig":
        if missing := [why for pair in self.languages() if (why := self.missing_for(*pair))]:
            raise ValueError("; ".join(missing))
        return self

    def languages(self) -> list[tuple[str, str]]:
        """Returns the languages of each pair: of the queries, and of the documents."""
        return [(query, document) for query, document in (pair.split("-") for pair in self.pairs)]

    def files(self) -> dict[str, list[str]]:
        """Returns the files of each input, by its dotted setting."""
        return {key: files_of_dump(path) for key, path in self.inputs().items()}


def load_wikipedia_config(path: str, overrides: Sequence[str] = ()) -> WikipediaConfig:
    """Reads and checks a configuration and that its files exist.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      overrides: `key=value`, the value in YAML. Relative paths in them are relative to the current folder.

    Raises:
      ConfigError: the configuration is wrong; the error lists all faults with their lines.
    """
    content, locations, faults = read_settings_file(path, WikipediaConfig)
    for override in overrides:
        faults += apply_override(content, locations, override, WikipediaConfig)
    try:
        config = WikipediaConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, locations, path, WikipediaConfig) for error in errors.errors()]
    inputs = [setting for setting in path_settings(WikipediaConfig, content) if setting.form]
    faults += [
        f"{location_of(setting.keys, locations, path)}: {setting.name}: {fault}"
        for setting, fault in check_inputs(inputs, None)
    ]
    output = content.get("output")
    if output and isinstance(output, str) and (fault := made_fault(output, WIKIPEDIA_MADE)):
        faults.append(f"{locations.get(('output',), path)}: output: {fault}")
    if faults:
        raise ConfigError(faults)
    return config
