"""The base of all settings: typed, documented, frozen, closed to unknown keys; their paths; and shared checks."""

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Settings(BaseModel):
    """One section of a configuration file. A field's docstring is its documentation, with its unit.

    Raises:
      pydantic.ValidationError: at construction, with every fault at once.
    """

    # Only settings have their docstrings read, for their documentation: Pydantic searches all imported modules for each
    # class, which took a second of each command once the large libraries were imported.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic would read YAML's `yes` as the number 1."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError(
                f"must not be a truth value (YAML reads a bare yes, no, on or off so: quote it); got {value}"
            )
        return value

    def inputs(self) -> dict[str, str]:
        """The path of each input that is given, by its dotted setting."""
        settings = path_settings(type(self), self.model_dump())
        return {setting.name: setting.path for setting in settings if setting.form}


@dataclass(frozen=True)
class InputPath:
    """Marks a setting as the path of an input, or a pattern of several files, relative to the file that gives it.

    The digest of the input stands in the `sha256` of its top section, under the setting's key.

    Attributes:
      form: the form of the file's lines.
    """

    form: Literal["collection", "pairs", "vectors", "dump", "saved_model", "text_vectors"]


@dataclass(frozen=True)
class OutputPath:
    """Marks a setting as the path of the folder to write, relative to the file that gives it."""


class PathSetting(NamedTuple):
    """A setting that holds a path, in raw settings."""

    section: dict[str, Any]
    """The mapping that holds it, where it may be replaced."""
    keys: tuple[str, ...]
    """The keys of its setting, from the top."""
    form: str | None
    """The form of the input; None of an output folder."""

    @property
    def path(self) -> str:
        """The path as the settings spell it."""
        path: str = self.section[self.keys[-1]]
        return path

    @property
    def name(self) -> str:
        """The dotted setting."""
        return ".".join(self.keys)


def path_settings(settings: type[Settings], content: Any, above: tuple[str, ...] = ()) -> Iterator[PathSetting]:
    """Every path that raw settings give, whatever faults they have elsewhere.

    Args:
      settings: the class that they are meant for.
      content: unchecked; anything but a mapping gives no path.
      above: keys of the section.

    Example:
      >>> from typing import Annotated
      >>> class Data(Settings):
      ...     queries: Annotated[str, InputPath("collection")]
      >>> class Run(Settings):
      ...     data: Data | None = None
      >>> [(item.name, item.path) for item in path_settings(Run, {"data": {"queries": "q.tsv", "documents": 3}})]
      [('data.queries', 'q.tsv')]
    """
    for name, field in settings.model_fields.items() if isinstance(content, dict) else ():
        keys, value = (*above, name), content.get(name)
        kind = next((mark for mark in field.metadata if isinstance(mark, InputPath | OutputPath)), None)
        if kind and isinstance(value, str) and value:
            yield PathSetting(content, keys, getattr(kind, "form", None))
        types = (field.annotation, *get_args(field.annotation))
        for section in (part for part in types if isinstance(part, type) and issubclass(part, Settings)):
            if get_origin(field.annotation) is not dict:
                yield from path_settings(section, value, keys)
            elif isinstance(value, dict):
                for key, item in value.items():
                    yield from path_settings(section, item, (*keys, str(key)))


@dataclass(frozen=True, eq=False)  # a table has no hash, and Python hashes the parts of a type
class OneOf:
    """Refuses a text that is no key of a table; for a setting's `pydantic.AfterValidator`.

    Args:
      choices: the table, which may grow later.

    Example:
      >>> OneOf(["map", "mrr_r"])("mapp")
      Traceback (most recent call last):
      ValueError: must be one of map, mrr_r; got 'mapp'; did you mean map?
    """

    choices: Collection[str]

    def __call__(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(
                f"must be one of {', '.join(self.choices)}; got {text!r}{did_you_mean(text, self.choices)}"
            )
        return text


def faults_of_kind(
    settings: "Settings", own: Mapping[str, Iterable[str]], needed: Mapping[str, Iterable[str]]
) -> list[str]:
    """Finds settings that belong to another kind, and settings that the kind lacks.

    Args:
      settings: with a setting `kind`.
      own: kind to the settings that it alone has.
      needed: kind to those of them that it must have.

    Example:
      >>> class Animal(Settings):
      ...     kind: str
      ...     wings: int | None = None
      >>> faults_of_kind(Animal(kind="cat", wings=2), {"bird": ["wings"]}, {"bird": ["wings"]})
      ['wings is for the kind bird alone, and kind is cat']
    """
    kind: str = settings.kind  # type: ignore[attr-defined]
    faults = []
    for owner, names in own.items():
        for name in names:
            if owner != kind and getattr(settings, name) != type(settings).model_fields[name].default:
                faults.append(f"{name} is for the kind {owner} alone, and kind is {kind}")
    faults += [
        f"{name} must be given for the kind {kind}" for name in needed.get(kind, ()) if getattr(settings, name) is None
    ]
    return faults


def did_you_mean(mistyped: str, known: Iterable[str]) -> str:
    """The end of an error message that names the nearest known word; empty where no word is near.

    Args:
      mistyped: the mistaken word.
      known: the allowed words.

    Example:
      >>> did_you_mean("epoch", ["epochs", "seed"])
      '; did you mean epochs?'
      >>> did_you_mean("zzz", ["epochs", "seed"])
      ''
    """

    def likeness(word: str) -> tuple[float, int]:
        # Among equally near words, prefers a common beginning: eng is en rather than ng.
        pair = word.lower(), mistyped.lower()
        return difflib.SequenceMatcher(None, *pair).ratio(), len(os.path.commonprefix(pair))

    best = max(sorted(known), key=likeness)
    return f"; did you mean {best}?" if likeness(best)[0] >= 0.5 else ""
