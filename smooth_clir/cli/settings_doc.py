"""Writes docs/settings.md from the typed settings:

.venv/bin/python -m smooth_clir.cli.settings_doc > docs/settings.md
"""

import sys
from collections.abc import Iterator
from itertools import groupby
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from pipeline.config import RunConfig
from pipeline.presets import PRESETS
from pipeline.settings_file import SettingsField, settings_fields
from pipeline.wikipedia.config import WikipediaConfig
from schemas.settings import KindSettings, OneOf, Settings
from smooth_clir.experiments.settings import ExperimentSettings
from smooth_clir.wikipedia.settings import WikiFiles

_HEADER = """# Settings

One YAML file holds all settings of a run; `clir run FILE --set section.key=value` overrides any of them. This page
is generated from the code (`python -m smooth_clir.cli.settings_doc > docs/settings.md`), and a test compares the two.

Relative paths are relative to the file (in `--set`, to the current folder). An unknown key, a wrong type or a value out
of range is refused before anything runs, all faults at once. Every run writes its resolved configuration, with absolute
paths and the SHA-256 of its inputs, to `<output>/config.yaml`; running that file gives the same numbers.

"""

_PRESETS = """## Presets

`preset` names the source of the settings that a run does not give:

- `paper` is the paper's system, whose figures stand in [Results](results.md).
- `best`, the default, is good on documents that training has seen and on others. It adds a lexicon beside the vectors
  and has a stronger tower. Its train lists have no NR documents that are relevant to no train query. A pre-trained
  encoder that the run names is a further channel; where the package of use_multilingual is installed, that encoder is
  taken for two of its languages.
- `closed` adds a softmax term, which memorises which documents are relevant to any query: for collections whose
  documents are all known when training. A pre-trained encoder gets a trained head, in place of the towers.
- `polynomial` is Polynomial Semantic Indexing (Bai et al. 2009) beside the lexicon, from whose translations it starts:
  for collections whose documents are all known, as `closed`, and trained in eight epochs.
- `cossim` and `duet_distributed` are the rankers of Cohen et al. 2018, trained as published: on each list's MR document
  and four drawn documents of lower grades. They have no lexicon, and no settings of encoders, similarities and stems.

A given key overrides the preset, even a null. The defaults below are the values of `paper`. A preset without a value of
its own has the default too, and so does a setting whose condition does not hold. The encoders cnn and lstm, and scorers
other than two_towers, keep their own learning rate and epochs, have neither stems nor word dropout, and take the rest.
Losses without thresholds, and duet_distributed, take everything except `loss.in_batch`. Tables of word vectors have
their own width, and their terms are words. The scores of the similarity dot have no scale of their own: the weight of
the lexicon beside them is fitted.

A resolved configuration names its preset and gives every key: `--set preset` over it is refused. One that names no
preset is refused, too.

## Settings of a run

Some sections have several kinds. The kinds that have a setting stand behind its name. A bare kind stands for a section
with its defaults: `loss: mse`.

"""

_EXPERIMENT_HEADER = """
## Settings of an experiment

`clir experiment FILE` reads its own file: a run, the grid over its settings, and named variants.

"""

_WIKIPEDIA_HEADER = """
## Settings of a collection from dumps

`clir wikipedia FILE` reads its own file. All keys except `pairs` and `output` may also stand in a run's
`data.wikipedia`, whose pair is `data.query_language` and `data.document_language`. LANGUAGE stands for a wiki's
language code.

"""

_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def settings_markdown() -> str:
    """The text of docs/settings.md."""
    return "".join(
        [
            *(_HEADER, _PRESETS, _run_settings()),
            *(_EXPERIMENT_HEADER, *map(_item, settings_fields(ExperimentSettings))),
            *(_WIKIPEDIA_HEADER, *map(_item, _wikipedia_fields())),
        ]
    )


def _run_settings() -> str:
    """Every key of a run, section by section, with its value in each preset."""
    parts = []
    for section, fields in groupby(settings_fields(RunConfig), key=lambda item: item.name.partition(".")[0]):
        items = [_item(item, _values_of_presets(item.name)) for item in fields if item.name != section]
        field = RunConfig.model_fields[section]
        is_section = bool(items)
        items = items or [_item(SettingsField(section, field), _values_of_presets(section))]
        parts.append(f"### {section}\n\n{f'{_meaning(field)}' + chr(10) * 2 if is_section else ''}{''.join(items)}\n")
    return "".join(parts)


def _values_of_presets(name: str) -> str:
    """The values that presets give to a setting, each with its presets."""
    own: dict[str, list[str]] = {}
    for preset in PRESETS if name != "preset" else ():
        if value := _in_preset(preset, name):
            own.setdefault(value, []).append(f"`{preset}`")
    return "".join(f"; {', '.join(presets)}: {value}" for value, presets in own.items())


def _item(item: SettingsField, preset_values: str = "") -> str:
    """A setting as an item of a list: its key, the kinds that have it, its type and default, and what it means."""
    kinds = f" ({', '.join(item.kinds)})" if item.kinds else ""
    head = f"{_type(item.field)}; {_default(item.field)}"
    if item.section:
        default = item.section.default_kind
        head = f"one of {', '.join(item.section.kinds)}; {f'default `{default}`' if default else 'required'}"
    return f"- **`{item.name}`**{kinds}: {head}{preset_values}  \n  {_meaning(item.field)}\n"


def _in_preset(preset: str, name: str) -> str:
    """A setting's value in a preset and its condition; empty if the preset has no value of its own."""
    if name not in PRESETS[preset]:
        return ""
    value, where = PRESETS[preset][name]
    return f"{_yaml(value)} {where.words if where else ''}".strip()


def _wikipedia_fields() -> Iterator[SettingsField]:
    """The keys of a collection from dumps, those of a wiki first."""
    yield from settings_fields(WikiFiles, "wikis.LANGUAGE.")
    yield from (item for item in settings_fields(WikipediaConfig) if item.name != "wikis")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if isinstance(field.default, KindSettings):
        return f"default `{getattr(field.default, field.default.kind_key)}`"
    return f"default {_yaml(field.default)}"


def _yaml(value: Any) -> str:
    return f"`{yaml.safe_dump(value).split(chr(10))[0]}`"


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _type(field: FieldInfo) -> str:
    """A field's type and limits in words."""
    limits = [
        f"{sign} {getattr(limit, key)}"
        for limit in field.metadata
        for key, sign in _SIGNS.items()
        if hasattr(limit, key)
    ]
    choices = [limit.func.choices for limit in field.metadata if isinstance(getattr(limit, "func", None), OneOf)]
    name = f"one of {', '.join(choices[0])}" if choices else _name(field.annotation)
    return ", ".join([name, *limits])


def _name(annotation: Any) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(arguments[0])
    if origin is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin in (Union, UnionType):
        return " or ".join(map(_name, arguments))
    if isinstance(annotation, type) and issubclass(annotation, KindSettings) and annotation.is_base():
        return f"section, or one of {', '.join(annotation.kinds)}"
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return "section (below)"
    if arguments:
        return f"{origin.__name__}[{', '.join(map(_name, arguments))}]"
    return {NoneType: "null", Any: "any", ...: "..."}.get(annotation) or str(annotation.__name__)


if __name__ == "__main__":
    sys.stdout.write(settings_markdown())
