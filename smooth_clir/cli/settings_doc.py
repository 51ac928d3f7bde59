"""Writes docs/settings.md from the typed settings:

.venv/bin/python -m smooth_clir.cli.settings_doc > docs/settings.md
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from pipeline.config import RunConfig
from pipeline.presets import PRESETS
from pipeline.settings_file import SettingsField, settings_fields
from pipeline.wikipedia.config import WikipediaConfig
from schemas.settings import KindSettings, OneOf, Settings, section_classes
from smooth_clir.experiments.settings import ExperimentSettings
from smooth_clir.wikipedia.settings import WikiFiles

_HEADER = """# Settings

One YAML file holds all settings of a run; `clir run FILE --set section.key=value` overrides any of them. This page
is generated from the code (`python -m smooth_clir.cli.settings_doc > docs/settings.md`), and a test compares the two.

Paths are relative to the file (in `--set`, to the current folder). An unknown key, a wrong type or a value out of range
is refused before anything runs, all faults at once. Every run writes its resolved configuration, with absolute paths
and the SHA-256 of its inputs, to `<output>/config.yaml`; running that file gives the same numbers.

## Presets

`preset` names the source of the settings that a run does not give:

- `paper` is the paper's system ([results](results.md#the-papers-system)).
- `best`, the default, is good on documents that training has seen and on others. It adds a lexicon beside the vectors
  and has a stronger tower. Its train lists have no NR documents that are relevant to no train query. A pre-trained
  encoder that the run names is a further channel; where the package of use_multilingual is installed, that encoder is
  taken for two of its languages.
- `closed` adds a softmax term, which memorises which documents are relevant to any query: for collections whose
  documents are all known when training. A pre-trained encoder gets a trained head, in place of the towers.
- `polynomial` is Polynomial Semantic Indexing (Bai et al. 2009) beside the lexicon, from whose translations it starts:
  for collections as for `closed`, trained in eight epochs.
- `cossim` and `duet_distributed` are the rankers of Cohen et al. 2018, trained as published: on each list's MR document
  and four drawn documents of lower grades. They have no lexicon, and no settings of encoders, similarities and stems.

A given key overrides the preset, even a null. The encoders cnn and lstm, and scorers other than two_towers, keep their
own learning rate and epochs, have neither stems nor word dropout, and take the rest. Losses without thresholds, and
duet_distributed, take everything except `loss.in_batch`. Tables of word vectors have their own width, and their terms
are words. Scores of the similarity dot have no scale of their own, so the weight of the lexicon beside them is fitted.

A resolved configuration names its preset and gives every key: `--set preset` over it is refused. One that names no
preset is refused, too.

## Settings of a run

The **bold** value is the default, that of `paper`; a row ends with the values of *presets* that have their own, and
with their conditions. Brackets name the kinds of a section that have a setting, unless all do. A bare kind stands for
a section with its defaults: `loss: mse`. The [JSON schema](clir.schema.json) also has the upper limits of numbers.

`data`, `embeddings`, `channels.lexicon` and `channels.encoder` may hold the SHA-256 of each input, as in
`data.sha256.queries`. A run fills these in, and refuses an input with another digest.

"""

_EXPERIMENT_HEADER = """## Settings of an experiment

`clir experiment FILE` reads its own file: a run, the grid over its settings, and named variants.

"""

_WIKIPEDIA_HEADER = """## Settings of a collection from dumps

`clir wikipedia FILE` reads its own file. All keys except `pairs` and `output` may also stand in a run's
`data.wikipedia`, whose pair is `data.query_language` and `data.document_language`. LANGUAGE stands for a wiki's
language code.

"""

_TABLE = "| setting | value | meaning |\n| --- | --- | --- |\n"
_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
_TYPES = {NoneType: ("null",), Any: ("any",), str: ("text",), bool: ("false", "true")}
_SMALLEST, _LARGEST = 1e-12, 1000
"""The smallest positive number, and the largest upper limit that a row shows."""


def settings_markdown() -> str:
    """The text of docs/settings.md."""
    run = [SettingsField(name, field) for name, field in RunConfig.model_fields.items()]
    inner = [item for item in settings_fields(RunConfig) if "." in item.name and ".sha256." not in item.name]
    items = [item for top in run for item in (top, *_below(top, inner))]
    wikipedia = [item for item in settings_fields(WikipediaConfig) if item.name != "wikis"]
    return "".join(
        [
            *(_HEADER, _tables(items, "", (), {})),
            *(_EXPERIMENT_HEADER, _table(settings_fields(ExperimentSettings)), "\n"),
            *(_WIKIPEDIA_HEADER, _table([*settings_fields(WikiFiles, "wikis.LANGUAGE."), *wikipedia])),
        ]
    )


def _below(section: SettingsField, items: Iterable[SettingsField]) -> list[SettingsField]:
    return [item for item in items if item.name.startswith(f"{section.name}.")]


def _tables(
    items: Sequence[SettingsField], prefix: str, kinds: Iterable[str], described: dict[type[Settings], str]
) -> str:
    """A table of settings, and those of the sections among them, each of which precedes its own settings.

    Args:
      items: the settings.
      prefix: what their keys have in common.
      kinds: those of their section.
      described: sections of several kinds that have a table already, with their keys. Tables add to it.
    """
    sections = [item for item in items if _below(item, items)]
    sections = [item for item in sections if not any(_below(section, [item]) for section in sections)]
    rows = [item for item in items if not any(item is section or _below(section, [item]) for section in sections)]
    table = f"{_table(rows, prefix, kinds)}\n" if rows else ""
    return table + "".join(_section(section, _below(section, items), kinds, described) for section in sections)


def _section(
    section: SettingsField,
    items: Sequence[SettingsField],
    outer_kinds: Iterable[str],
    described: dict[type[Settings], str],
) -> str:
    """The heading of a section, its meaning and its tables."""
    owners = [kind for kind in section.kinds if kind in outer_kinds]
    text = f"{'#' * (3 + section.name.count('.'))} {section.name}\n\n{_meaning(section.field)}"
    text += f" Only with the kind {', '.join(owners)}." if owners else ""
    bases = [part for part in section_classes(section.field.annotation) if issubclass(part, KindSettings)]
    base = bases[0] if bases and bases[0].is_base() else None
    if base in described:
        name = described[base]
        return f"{text} It has the settings of [{name}](#{name.replace('.', '')}).\n\n"
    if base:
        described[base] = section.name
    return f"{text}\n\n{_tables(items, f'{section.name}.', base.kinds if base else (), described)}"


def _table(items: Iterable[SettingsField], prefix: str = "", kinds: Iterable[str] = ()) -> str:
    """A row for each documented setting; kinds that differ in its default alone share the row."""
    documented = [item for item in items if item.field.description]
    groups = groupby(documented, key=lambda item: (item.name, _alternatives(item), _meaning(item.field)))
    return _TABLE + "".join(_row([*group], prefix, kinds) for _, group in groups)


def _row(items: Sequence[SettingsField], prefix: str, kinds: Iterable[str]) -> str:
    """A setting's key, the kinds that have it, its values, and what it means.

    Args:
      items: the setting, for kinds with different defaults.
      prefix: of the key, which is left out.
      kinds: those of the section that the table describes.
    """
    name, field = items[0].name, items[0].field
    defaults = [_default(item) for item in items]
    owners = [", ".join(kind for kind in item.kinds if kind in kinds) for item in items]
    if len(items) > 1:
        defaults = [f"{default} ({owner})" for default, owner in zip(defaults, owners, strict=True)]
    key = " ".join([f"`{name.removeprefix(prefix)}`", *([f"({', '.join(owners)})"] if owners[0] else [])])
    values = [value for value in _alternatives(items[0]) if f"**{value}**" not in defaults]
    if isinstance(field.default, int | float):  # which shows the type
        values = [
            value.removeprefix("int ").removeprefix("float ") for value in values if value not in ("false", "true")
        ]
    values = [*defaults, *values]
    return f"| {key} | {', '.join(values)} | {' '.join([_meaning(field), *_values_of_presets(name)])} |\n"


def _values_of_presets(name: str) -> list[str]:
    """The values that presets give to a setting, each with its presets, as a sentence."""
    own: dict[str, list[str]] = {}
    for preset in PRESETS:
        if name in PRESETS[preset]:
            value, where = PRESETS[preset][name]
            own.setdefault(f"`{_yaml(value)}` {where.words if where else ''}".strip(), []).append(f"*{preset}*")
    values = "; ".join(f"{', '.join(presets)}: {value}" for value, presets in own.items())
    return [f"{values}."] if values else []


def _default(item: SettingsField) -> str:
    if item.section:
        return f"**{item.section.default_kind}**" if item.section.default_kind else "required"
    return "required" if item.field.is_required() else f"**{_yaml(item.field.default)}**"


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True)).split("\n")[0]


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _alternatives(item: SettingsField) -> tuple[str, ...]:
    """The values that a setting may have: choices, and types with their limits."""
    if item.section:
        return (*item.section.kinds,)
    choices = [limit.func.choices for limit in item.field.metadata if isinstance(getattr(limit, "func", None), OneOf)]
    if choices:
        return (*choices[0],)
    limits = _limits(item.field)
    return (*(f"{name}{limits}" if name in ("int", "float") else name for name in _names(item.field.annotation)),)


def _limits(field: FieldInfo) -> str:
    """A number's limits in words, without large upper ones."""
    limits = {
        sign: limit
        for mark in field.metadata
        for key, sign in _SIGNS.items()
        if (limit := getattr(mark, key, _LARGEST + 1)) <= _LARGEST
    }
    if limits.get("≥") == _SMALLEST:
        limits = {">": 0, **{sign: limit for sign, limit in limits.items() if sign != "≥"}}
    if limits.keys() == {"≥", "≤"}:
        return f" {limits['≥']} to {limits['≤']}"
    return " and".join(f" {sign} {limit}" for sign, limit in limits.items())


def _names(annotation: Any) -> tuple[str, ...]:
    """The choices and types of a type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _names(arguments[0])
    if origin is Literal:
        return (*map(str, arguments),)
    if origin in (Union, UnionType):
        return (*(name for argument in arguments for name in _names(argument)),)
    if origin in (tuple, list):
        return (f"list of {' or '.join(_names(arguments[0]))}",)
    if origin is dict:
        return (f"map of {' or '.join(_names(arguments[1]))}",)
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return ("section",)
    return _TYPES.get(annotation) or (annotation.__name__,)


if __name__ == "__main__":
    sys.stdout.write(settings_markdown())
