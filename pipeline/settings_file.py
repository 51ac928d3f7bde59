"""YAML files of settings: their values, the location of every key, and each fault in our words."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import pydantic
import yaml

from schemas.errors import ConfigError
from schemas.settings import KindSettings, Settings, did_you_mean, expand_kinds, path_settings, section_classes
from schemas.wording import printable

_YAML_ERRORS = (yaml.YAMLError, ValueError, RecursionError)
"""The errors for a text that is not YAML; the last two for an impossible date and for thousands of brackets."""

_MAX_ALIASED = 10_000
"""Largest number of values that the aliases of a file stand for: ten lines of aliases may stand for billions."""

_OTHER_BASE = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-9_]+)+(\.[0-9_]*)?)")
"""Digits that YAML 1.1 does not read as the decimal number that they seem to be."""

_MAY_HOLD_SECRETS = re.compile(r"channels(\.lexicon)?|((channels\.)?encoder|.*translator)(\.address|\.key_variable)?")
"""Settings whose value may be a key or a password."""

_LONGEST_VALUE = 200
_LONGEST_MESSAGE = 2000

Locations = dict[tuple[str, ...], str]
"""The location of each key: path of keys to `file:line`, or to the override."""


def read_settings_file(path: str, settings: type[Settings]) -> tuple[dict[str, Any], Locations, list[str]]:
    """Reads a file's plain values, unchecked but with absolute paths.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      settings: the class of the settings.

    Returns:
      the values, the location of every key, and a fault for each key that is given twice.

    Raises:
      ConfigError: the file cannot be read, is not YAML, or holds no keys.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}."]) from None
    try:
        root, content = load_yaml(text)
    except NotYamlError as error:
        location = f"{path}:{error.line}" if error.line else path
        raise ConfigError([f"{location}: {error}."]) from None
    if not isinstance(content, dict):
        got = "nothing" if content is None else type(content).__name__
        required = [name for name, field in settings.model_fields.items() if field.is_required()]
        raise ConfigError([f"{path}: must hold sections such as {' and '.join(required)}; got {got}."])
    locations: Locations = {}
    faults = []
    for keys, node in _walk(root, ()):
        location = f"{path}:{node.start_mark.line + 1}"
        if keys in locations:
            name = printable(".".join(keys), _LONGEST_VALUE)
            faults.append(f"{location}: {name}: is given twice; first at {locations[keys]}.")
        locations[keys] = location
    content = expand_kinds(settings, without_empty_sections(content, settings))
    resolve_paths(content, settings, Path(path).parent)
    return content, locations, faults


def resolve_paths(content: dict[str, Any], settings: type[Settings], folder: Path) -> None:
    """Makes the paths in raw settings absolute, relative to a folder; paths with a scheme stay."""
    for setting in path_settings(settings, content):
        if "://" not in setting.path:
            setting.section[setting.keys[-1]] = os.path.realpath(folder / os.path.expanduser(setting.path))


class NotYamlError(Exception):
    """A text is not YAML, or is YAML that no settings need.

    Args:
      fault: what must hold.
      line: the line of the fault, from 1; None if it is unknown.
    """

    def __init__(self, fault: str, line: int | None) -> None:
        self.line = line
        super().__init__(fault)


def load_yaml(text: str) -> tuple[yaml.Node | None, Any]:
    """Returns the nodes of a YAML text, and its value.

    Raises:
      NotYamlError: it is not YAML, its aliases stand for more values than settings can need, or it has characters that
        neither files nor their names can have.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        aliased = 0
        for node, met_before in _visits(root, set(), ()):
            aliased += met_before
            line = node.start_mark.line + 1
            if aliased > _MAX_ALIASED:
                raise NotYamlError(
                    f"aliases (*name) must stand for at most {_MAX_ALIASED:,} values in all; got more: write the "
                    "values out",
                    line,
                )
            if not isinstance(node, yaml.ScalarNode):
                continue
            if node.style is None and _OTHER_BASE.fullmatch(node.value):
                raise NotYamlError(
                    "a number must have no leading zero and no colon, which YAML 1.1 reads in base 8 and base 60; got "
                    f"{_shown(node.value)}: write a decimal number, or put a text in quotes",
                    line,
                )
            if re.search("[\0\ud800-\udfff]", node.value):
                raise NotYamlError(
                    f"a text must hold no NUL and no half of a surrogate pair; got {_shown(node.value)}", line
                )
        return root, yaml.safe_load(text)
    except _YAML_ERRORS as error:
        mark = getattr(error, "problem_mark", None)
        problem = printable(str(getattr(error, "problem", None) or error), _LONGEST_VALUE)
        raise NotYamlError(f"must be YAML: {problem}", mark and mark.line + 1) from None


def _visits(node: yaml.Node | None, seen: set[int], above: tuple[int, ...]) -> Iterator[tuple[yaml.Node, bool]]:
    """Yields each node once per occurrence, with whether it was seen before. Does not follow an alias into itself."""
    if node is None or id(node) in above:
        return
    yield node, id(node) in seen
    seen.add(id(node))
    if isinstance(node, yaml.CollectionNode):
        for child in node.value:
            for part in child if isinstance(node, yaml.MappingNode) else [child]:
                yield from _visits(part, seen, (*above, id(node)))


def without_empty_sections(content: Mapping[str, Any], settings: type[Settings]) -> dict[str, Any]:
    """Raw settings without their null sections: YAML reads a section without keys as null, which keeps its defaults."""
    return {key: value for key, value in content.items() if value is not None or key not in settings.model_fields}


def _walk(
    node: yaml.Node | None, prefix: tuple[str, ...], above: tuple[yaml.Node, ...] = ()
) -> Iterator[tuple[tuple[str, ...], yaml.Node]]:
    """Yields every key and list item, at any depth, with its node. Does not follow an alias into itself."""
    if node in above:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            keys = (*prefix, str(key.value))
            yield keys, key
            yield from _walk(value, keys, (*above, node))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            keys = (*prefix, str(number))
            yield keys, value
            yield from _walk(value, keys, (*above, node))


def describe_fault(error: Mapping[str, Any], locations: Locations, path: str, settings: type[Settings]) -> str:
    """Returns a fault of pydantic's in our words: location, key, what must hold, and the value."""
    keys = tuple(str(key) for key in error["loc"] if key != "[key]")
    location = printable(location_of(keys, locations, path), _LONGEST_MESSAGE)
    name = printable(".".join(keys), _LONGEST_VALUE)
    if error["type"] == "extra_forbidden":
        known = known_keys(settings)
        section, _, key = name.rpartition(".")
        if name in known and "." not in keys[-1]:
            return f"{location}: {name}: is a setting of the {owners(settings, name)}, and {section} is of another."
        if name in known:
            return f"{location}: {name}: only --set takes dotted keys; in a file, write {key} in the section {section}."
        dotted = printable(".".join(key for key in keys if not key.isdigit()), _LONGEST_VALUE)
        hint = did_you_mean(dotted, [*settings.model_fields, *known]) or f"; known: {', '.join(dict.fromkeys(known))}."
        return f"{location}: {name}: unknown key{hint}"
    if error["type"] == "missing":
        return f"{location}: {name}: must be given."
    message = re.sub("^(Input|String|List|Dictionary) should", "must", str(error["msg"]).removeprefix("Value error, "))
    message = printable(message, _LONGEST_MESSAGE)
    got = "" if error["type"] == "value_error" else f"; got {_shown(error['input'])}"
    if error["type"] == "literal_error":
        got += did_you_mean(_shown(error["input"]).strip("'"), re.findall(r"'(\w+)'", error["ctx"]["expected"]))
    return f"{location}: {name}: {message}{got}"


def _shown(value: Any) -> str:
    """A value for a message, shortened if it is long."""
    try:
        return printable(repr(value), _LONGEST_VALUE)
    except (ValueError, RecursionError) as error:  # Python refuses to write numbers of more than 4,300 digits
        return f"a value that cannot be shown ({error})"


def location_of(keys: tuple[str, ...], locations: Locations, path: str) -> str:
    """The location of a key, of the nearest section that holds it, or else the file."""
    return next((locations[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in locations), path)


class SettingsField(NamedTuple):
    """A field of a settings class, or of a section in it."""

    name: str
    """The dotted key."""
    field: pydantic.fields.FieldInfo
    kinds: tuple[str, ...] = ()
    """The kinds that have the field; empty if every kind of its section has it."""
    section: type[KindSettings] | None = None
    """The base class of the section whose kind the field names."""


def known_keys(settings: type[Settings]) -> list[str]:
    """Every key of a settings class and of the sections in it, dotted."""
    return [item.name for item in settings_fields(settings)]


def owners(settings: type[Settings], name: str) -> str:
    """Returns the kinds that have a setting, in words."""
    kinds = (kind for item in settings_fields(settings) if item.name == name for kind in item.kinds)
    *others, last = dict.fromkeys(kinds)
    return f"kinds {', '.join(others)} and {last}" if others else f"kind {last}"


def settings_fields(settings: type[Settings], prefix: str = "") -> Iterator[SettingsField]:
    """Every field of a settings class and of the sections in it.

    A section with several kinds is itself a field, before the fields of its kinds.
    """
    for name, field in settings.model_fields.items():
        yield from _fields_below(f"{prefix}{name}", field)


def _fields_below(name: str, field: pydantic.fields.FieldInfo) -> Iterator[SettingsField]:
    # The settings of a section, or of each item of a tuple.
    section = get_args(field.annotation)[0] if get_origin(field.annotation) is tuple else field.annotation
    by_kind = [part for part in section_classes(section) if issubclass(part, KindSettings)]
    if by_kind:
        yield SettingsField(name, field)
        yield from _fields_of_kinds(by_kind[0], f"{name}.")
    elif isinstance(section, type(Settings)):
        yield from settings_fields(section, f"{name}.")
    else:
        yield SettingsField(name, field)


def _fields_of_kinds(base: type[KindSettings], prefix: str) -> Iterator[SettingsField]:
    """Yields the fields of all kinds, then those of fewer kinds; a field with several defaults once for each."""
    kinds: Mapping[str, type[Settings]] = base.kinds if base.is_base() else {"": base}
    names = dict.fromkeys(name for kind in kinds.values() for name in kind.model_fields)
    for name in sorted(names, key=lambda name: any(name not in kind.model_fields for kind in kinds.values())):
        kinds_by_default: dict[str, list[str]] = {}
        for kind_name, kind in kinds.items():
            if name in kind.model_fields:
                default = "" if name == base.kind_key else repr(kind.model_fields[name].default)
                kinds_by_default.setdefault(default, []).append(kind_name)
        for members in kinds_by_default.values():
            is_shared = len(members) == len(kinds)
            owner = base if is_shared and name in base.model_fields else kinds[members[0]]
            section = base if name == base.kind_key and base.is_base() else None
            for item in _fields_below(f"{prefix}{name}", owner.model_fields[name]):
                item_kinds = item.kinds or (() if is_shared else tuple(members))
                yield item._replace(kinds=item_kinds, section=item.section or section)


def apply_override(
    content: dict[str, Any],
    locations: Locations,
    override: str,
    settings: type[Settings],
    fault_of_preset: Callable[[Mapping[str, Any], Any], str | None] = lambda content, value: None,
    origin: str | None = None,
) -> list[str]:
    """Applies one `section.key=value` to raw settings.

    Args:
      content: the settings.
      locations: the locations of their keys.
      override: the value in YAML. Relative paths in it are relative to the current folder.
      settings: the class of the settings.
      fault_of_preset: returns an error message for an override of `preset`, or None.
      origin: the location of the value, if it is no `--set` of the command line.

    Returns:
      the faults of the override.
    """
    name, equals, text = override.partition("=")
    # The value, or a section of it, may be a key or a password: do not show it.
    is_secret = _MAY_HOLD_SECRETS.fullmatch(name) or ("{" in text and "translator" in text)
    shown = f"{name}=..." if is_secret else override
    location = origin or f"--set {printable(shown, _LONGEST_VALUE)}"
    if not equals or not all(name.split(".")):
        return [f"{location}: must have the form section.key=value."]
    try:
        _, value = load_yaml(text)
    except NotYamlError as error:
        fault = f"the value {error}" if str(error).startswith("must") else str(error)
        return [f"{location}: {fault}; got {printable(repr(text), _LONGEST_VALUE)}."]
    *sections, key = keys = name.split(".")
    for length in range(1, len(keys) + 1):
        locations.setdefault(tuple(keys[:length]), location)
    if name == "preset" and (why := fault_of_preset(content, value)):
        return [f"{location}: preset: {why}."]
    target = content
    for section in sections:
        target[section] = target.get(section) or {}  # a null section becomes an empty one
        target = target[section]
        if not isinstance(target, dict):
            return [f"{location}: {section} is not a section."]
    target[key] = value
    content |= expand_kinds(settings, content)
    locations[tuple(keys)] = location
    resolve_paths(content, settings, Path.cwd())  # all other paths are absolute already
    return []
