"""Writes docs/settings.md from the typed settings themselves:

.venv/bin/python -m pipeline.settings_doc > docs/settings.md
"""

import re
import sys
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from pipeline.config import RunConfig, settings_fields

_HEADER = """# Settings

One YAML file holds all settings of a run; `clir run FILE --set section.key=value` overrides any of them. This page
is generated from the code (`python -m pipeline.settings_doc > docs/settings.md`), and a test compares the two.

Relative paths are relative to the file (in `--set`, to the current folder). An unknown key, a wrong type or a value out
of range is refused before anything runs, all faults at once. Every run writes its resolved configuration, with absolute
paths and the SHA-256 of its inputs, to `<output>/config.yaml`; running that file gives the same numbers.

| key | type | default | meaning |
| --- | --- | --- | --- |
"""


_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def settings_markdown() -> str:
    """The text of docs/settings.md."""
    rows = []
    for name, field in settings_fields(RunConfig):
        default = "required" if field.is_required() else f"`{yaml.safe_dump(field.default).split(chr(10))[0]}`"
        meaning = " ".join((field.description or "").split())
        rows.append(f"| `{name}` | {_type(field)} | {default} | {meaning} |\n")
    return _HEADER + "".join(rows)


def _type(field: FieldInfo) -> str:
    """A field's type and limits in words."""
    choices = get_args(field.annotation)
    null = " or null" if NoneType in choices else ""
    # Of the two choices, the one that is not null.
    kind: Any = next(one for one in choices if one is not NoneType) if null else field.annotation
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind))) + null
    name = re.sub(r"[a-z_.]+\.(?=[A-Z])", "", str(kind) if get_origin(kind) else kind.__name__) + null
    limits = [
        f"{sign} {getattr(limit, key)}"
        for limit in field.metadata
        for key, sign in _SIGNS.items()
        if hasattr(limit, key)
    ]
    return ", ".join([name, *limits])


if __name__ == "__main__":
    sys.stdout.write(settings_markdown())
