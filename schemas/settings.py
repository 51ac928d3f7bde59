"""The base of all settings: typed, documented, frozen, closed to unknown keys; their paths; and shared checks."""

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_origin

import pydantic
from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

_Kind = TypeVar("_Kind", bound="KindSettings")


class Settings(BaseModel):
    """One section of a configuration file. A field's docstring is its documentation, with its unit.

    Raises:
      pydantic.ValidationError: at construction, with every fault at once.
    """

    # Docstrings are read for settings only: for each class Pydantic searches all imported modules, which took each
    # command a second.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_default=True,
        polymorphic_serialization=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_booleans(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic would read YAML's `yes` as the number 1."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError(f"must not be a truth value; got {value} (quote a bare yes, no, on or off in YAML)")
        return value

    def inputs(self) -> dict[str, str]:
        """Returns the paths of the inputs by their dotted settings."""
        settings = path_settings(type(self), self.model_dump())
        return {setting.name: setting.path for setting in settings if setting.form}


class KindSettings(Settings):
    """A section of one of several kinds, each a class with settings of its own.

    A base class has a table of its kinds. Validating content for the base gives the settings of the content's kind. A
    bare name stands for a kind with its defaults.

    Attributes:
      kinds: the kinds of a base class by name. Entries may be added.
      kind_key: the key that names the kind.
      default_kind: the kind where the content does not name it; None where it must.

    Example:
      >>> class Animal(KindSettings):
      ...     kinds: ClassVar[dict[str, type[Any]]] = {}
      ...     kind: str
      >>> @Animal.add
      ... class Bird(Animal):
      ...     kind: Literal["bird"] = "bird"
      ...     wings: int = 2
      >>> Animal.model_validate({"kind": "bird", "wings": 1}), Animal.model_validate("bird")
      (Bird(kind='bird', wings=1), Bird(kind='bird', wings=2))
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    kind_key: ClassVar[str] = "kind"
    default_kind: ClassVar[str | None] = None

    @classmethod
    def add(cls, kind: type[_Kind]) -> type[_Kind]:
        """Adds a class to the table of kinds; a decorator."""
        cls.kinds[str(kind.model_fields[cls.kind_key].default)] = kind
        return kind

    @classmethod
    def is_base(cls) -> bool:
        """Whether the class has kinds and is not itself a kind."""
        return "kinds" in cls.__dict__

    @classmethod
    def kind_of(cls, content: Any) -> type[Any] | None:
        """Returns the class of raw settings, or None if their kind is missing or unknown."""
        if isinstance(content, KindSettings):
            return type(content)
        name = content if isinstance(content, str) else cls.default_kind
        if isinstance(content, Mapping):
            name = content.get(cls.kind_key, cls.default_kind)
        return cls.kinds.get(name) if isinstance(name, str) else None

    @model_validator(mode="wrap")
    @classmethod
    def _choose_kind(cls, content: Any, validate: ModelWrapValidatorHandler[Any]) -> Any:
        if not cls.is_base() or isinstance(content, cls):
            is_own = isinstance(content, str) and content == cls.model_fields[cls.kind_key].default
            return validate({} if is_own else content)
        if not isinstance(content, str | Mapping):
            raise ValueError(f"must be a section, or the name of a kind: {', '.join(cls.kinds)}; got {content!r}")
        values = {cls.kind_key: content} if isinstance(content, str) else content
        kind = cls.kind_of(values)
        if kind is None:
            raise _kind_error(cls, values)
        return kind.model_validate(values)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        if not cls.is_base():
            return handler(schema)
        kinds = [handler(kind.__pydantic_core_schema__) for kind in cls.kinds.values()]
        return {"anyOf": [*kinds, {"enum": [*cls.kinds]}]}


def _kind_error(base: type[KindSettings], content: Mapping[str, Any]) -> pydantic.ValidationError:
    """The error of content whose kind is missing or unknown."""
    name = content.get(base.kind_key)
    hint = did_you_mean(name, base.kinds) if isinstance(name, str) else ""
    got = "nothing" if base.kind_key not in content else repr(name)
    message = f"must be one of {', '.join(base.kinds)}; got {got}{hint}"
    # Pydantic would fill in braces in a template.
    error = PydanticCustomError("value_error", "{message}", {"message": message})
    details = InitErrorDetails(type=error, loc=(base.kind_key,), input=name)
    return pydantic.ValidationError.from_exception_data(base.__name__, [details])


def expand_kinds(settings: type[Settings], content: Any) -> Any:
    """Returns raw settings with `{kind: NAME}` in place of each bare name of a kind.

    Args:
      settings: the class that describes them.
      content: unchecked; a value instead of a section stays as it is.
    """
    if issubclass(settings, KindSettings) and settings.is_base():
        kind = settings.kind_of(content)
        values = {settings.kind_key: content} if isinstance(content, str) else content
        return expand_kinds(kind, values) if kind else values
    if not isinstance(content, Mapping):
        return content
    expanded = dict(content)
    for name, field in settings.model_fields.items():
        if get_origin(field.annotation) in (dict, tuple):
            continue
        for section in section_classes(field.annotation):
            if name in expanded:
                expanded[name] = expand_kinds(section, expanded[name])
    return expanded


def section_classes(annotation: Any) -> list[type[Settings]]:
    """Returns the settings classes within a field's type, such as an optional section, or a tuple's items."""
    types = (annotation, *get_args(annotation))
    return [part for part in types if isinstance(part, type) and issubclass(part, Settings)]


@dataclass(frozen=True)
class InputPath:
    """Marks a setting as the path of an input, or a pattern of several files, relative to the file that gives it.

    The `sha256` of the path's top section holds the input's digest under the same key.

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
    """The mapping that holds the path, for replacing it."""
    keys: tuple[str, ...]
    """The keys of the setting, from the top."""
    form: str | None
    """The form of the input; None for an output folder."""

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
    """Yields every path in raw settings, which may have faults elsewhere.

    Args:
      settings: the class that describes them.
      content: unchecked; anything but a mapping has no path.
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
    if issubclass(settings, KindSettings) and settings.is_base():
        kind = settings.kind_of(content)
        if kind is not None:
            yield from path_settings(kind, content, above)
        return
    for name, field in settings.model_fields.items() if isinstance(content, dict) else ():
        keys, value = (*above, name), content.get(name)
        mark = next((mark for mark in field.metadata if isinstance(mark, InputPath | OutputPath)), None)
        if mark and isinstance(value, str) and value:
            yield PathSetting(content, keys, getattr(mark, "form", None))
        for section in section_classes(field.annotation):
            if get_origin(field.annotation) is not dict:
                yield from path_settings(section, value, keys)
            elif isinstance(value, dict):
                for key, item in value.items():
                    yield from path_settings(section, item, (*keys, str(key)))


@dataclass(frozen=True, eq=False)  # Python hashes the parts of a type, and a table cannot be hashed
class OneOf:
    """Refuses a text that is not a key of a table; for a setting's `pydantic.AfterValidator`.

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


def did_you_mean(mistyped: str, known: Iterable[str]) -> str:
    """Returns the end of an error message with the nearest known word; empty if no word is near.

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
        # Among equally near words prefers a common beginning: en to ng, for eng.
        pair = word.lower(), mistyped.lower()
        return difflib.SequenceMatcher(None, *pair).ratio(), len(os.path.commonprefix(pair))

    best = max(sorted(known), key=likeness, default="")
    return f"; did you mean {best}?" if best and likeness(best)[0] >= 0.5 else ""
