"""Settings that the command line gives: `--set section.key=value`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pipeline.settings_file import NotYamlError, Places, load_yaml
from schemas.printable import printable

_LONGEST_VALUE: Final = 200


def apply_override(
    content: dict[str, Any],
    places: Places,
    override: str,
    resolve_paths: Callable[[dict[str, Any], Path], None],
    fault_of_preset: Callable[[Mapping[str, Any], Any], str | None] = lambda content, value: None,
) -> list[str]:
    """Applies one `section.key=value` to raw settings.

    Args:
      content: the settings.
      places: of their keys.
      override: the value in YAML.
      resolve_paths: makes the paths in raw settings absolute.
      fault_of_preset: why `preset` cannot be overridden, if so.

    Returns:
      what is wrong with it.
    """
    place = f"--set {printable(override, _LONGEST_VALUE)}"
    name, equals, text = override.partition("=")
    if not equals or not all(name.split(".")):
        return [f"{place}: must have the form section.key=value."]
    try:
        _, value = load_yaml(text)
    except NotYamlError as error:
        fault = f"the value {error}" if str(error).startswith("must") else str(error)
        return [f"{place}: {fault}; got {printable(repr(text), _LONGEST_VALUE)}."]
    *sections, key = keys = name.split(".")
    for length in range(1, len(keys) + 1):
        places.setdefault(tuple(keys[:length]), place)
    if name == "preset" and (why := fault_of_preset(content, value)):
        return [f"{place}: preset: {why}."]
    target = content
    for section in sections:
        target = target.setdefault(section, {})
        if not isinstance(target, dict):
            return [f"{place}: {section} is no section."]
    target[key] = value
    places[tuple(keys)] = place
    nested: dict[str, Any] = {key: value}
    for section in reversed(sections):
        nested = {section: nested}
    resolve_paths(nested, Path.cwd())
    for section in sections:
        nested = nested[section]
    target[key] = nested[key]
    return []
