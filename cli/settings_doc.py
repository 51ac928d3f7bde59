"""Writes docs/settings.md from the typed settings themselves:

.venv/bin/python -m cli.settings_doc > docs/settings.md
"""

import sys
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from experiments.settings import ExperimentSettings
from pipeline.config import RunConfig
from pipeline.settings_file import settings_fields
from schemas.one_of import OneOf
from schemas.settings import Settings

_HEADER = """# Settings

One YAML file holds all settings of a run; `clir run FILE --set section.key=value` overrides any of them. This page
is generated from the code (`python -m cli.settings_doc > docs/settings.md`), and a test compares the two.

Relative paths are relative to the file (in `--set`, to the current folder). An unknown key, a wrong type or a value out
of range is refused before anything runs, all faults at once. Every run writes its resolved configuration, with absolute
paths and the SHA-256 of its inputs, to `<output>/config.yaml`; running that file gives the same numbers.

"""

_EXPERIMENT_HEADER = """
## Of an experiment

`clir experiment FILE` reads a file of its own: a run, and the grid over its settings.

"""

_TABLE_HEAD = """| key | type | default | meaning |
| --- | --- | --- | --- |
"""


_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def settings_markdown() -> str:
    """The text of docs/settings.md."""
    return _HEADER + _table(RunConfig) + _EXPERIMENT_HEADER + _table(ExperimentSettings)


def _table(settings: type[Settings]) -> str:
    """A row for every key of a settings class."""
    rows = []
    for name, field in settings_fields(settings):
        default = "required" if field.is_required() else f"`{yaml.safe_dump(field.default).split(chr(10))[0]}`"
        meaning = " ".join((field.description or "").split())
        rows.append(f"| `{name}` | {_type(field)} | {default} | {meaning} |\n")
    return _TABLE_HEAD + "".join(rows)


def _type(field: FieldInfo) -> str:
    """A field's type and limits in words."""
    limits = [
        f"{sign} {getattr(limit, key)}"
        for limit in field.metadata
        for key, sign in _SIGNS.items()
        if hasattr(limit, key)
    ]
    choices = [one.func.choices for one in field.metadata if isinstance(getattr(one, "func", None), OneOf)]
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
    if arguments:
        return f"{origin.__name__}[{', '.join(map(_name, arguments))}]"
    return {NoneType: "null", Any: "any", ...: "..."}.get(annotation) or str(annotation.__name__)


if __name__ == "__main__":
    sys.stdout.write(settings_markdown())
