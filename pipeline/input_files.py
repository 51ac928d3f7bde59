"""The input files of a configuration: their paths and their digests."""

import glob
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from models.encoders.settings import files_of_saved_model, files_of_vectors
from schemas import file_system
from schemas.byte_streams import input_digest, stream_sha256
from schemas.errors import ConfigError, DataError
from schemas.settings import PathSetting, Settings, path_settings
from smooth_clir.wikipedia.dumps.files import find_dump_files

Config = TypeVar("Config", bound=Settings)


def is_remote(path: str) -> bool:
    """Whether a path lies on Google Cloud Storage."""
    return path.startswith("gs://")


def scheme_fault(path: str) -> str | None:
    """Returns an error message for a path with a scheme that the pipeline cannot read, or None."""
    scheme = re.match(r"[A-Za-z][\w+.-]*://", path)
    if scheme is None or is_remote(path):
        return None
    return f"must be a local path, or one on Google Cloud Storage (gs://...); got {path!r}."


def files_of(path: str) -> list[str]:
    """The files of a path: itself, or all files that match it as a pattern, in the order of their names.

    The name of an existing local folder is never a pattern, whatever characters it holds.
    """
    if is_remote(path):
        from tfx.dsl.io import fileio  # takes seconds

        return sorted(fileio.glob(path)) if glob.has_magic(path) else [path]
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    folder = next(parent for parent in Path(path).parents if os.path.exists(parent))
    return sorted(str(folder / name) for name in glob.glob(str(Path(path).relative_to(folder)), root_dir=folder))


def files_of_dump(path: str) -> list[str]:
    """The files of a dump, in the order of their pages; or the single file of a table.

    Raises:
      DataError: a pattern matches no file, or files of two dumps.
    """
    return find_dump_files(path, files_of)


def file_fault(path: str) -> str | None:
    """Returns an error message for a file that cannot be read, or None."""
    if os.path.isdir(path):
        return f"must be a file; {path} is a folder."
    if not os.path.exists(path):
        return missing_fault(path)
    if not os.path.isfile(path):
        return f"must be a file that can be read more than once; {path} is a pipe or a device."
    if os.path.getsize(path) == 0:
        return f"{path} is empty."
    if not os.access(path, os.R_OK):
        return f"{path} cannot be read: permission denied."
    return None


def missing_fault(path: str) -> str:
    """Returns the error message for a file that is not there."""
    return f"there is no file {path}."


def sha256_of_file(path: str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with file_system.open_file(path, "rb") as file:
        return stream_sha256(file)


def digest_of(path: str, expected: str | None = None) -> str:
    """The digest of an input's present content, whatever digest the configuration expects."""
    return input_digest([sha256_of_file(file) for file in files_of(path)])


def digests_of(content: Mapping[str, Any], setting: PathSetting) -> tuple[str, dict[str, Any], str]:
    """Finds the digest of an input in plain settings.

    The nearest section with a `sha256` holds it, under the next key. The digest of a deeper setting is in a table under
    that key, under the remaining dotted keys.

    Returns:
      the section's dotted name, the table, and the key.

    Example:
      >>> digests = {"pairs": "abc"}
      >>> setting = PathSetting({}, ("channels", "lexicon", "pairs"), "pairs")
      >>> digests_of({"channels": {"lexicon": {"pairs": "p.tsv", "sha256": digests}}}, setting)
      ('channels.lexicon', {'pairs': 'abc'}, 'pairs')
    """
    sections: list[Any] = [content]
    for key in setting.keys[:-1]:
        sections.append(sections[-1][key])
    depth = max(number for number, section in enumerate(sections) if "sha256" in section)
    name, *below = setting.keys[depth:]
    table = sections[depth]["sha256"]
    table, key = (table[name], ".".join(below)) if below else (table, name)
    return ".".join(setting.keys[:depth]), table, key


def resolve_digests(
    config: Config,
    find: Callable[[str, str | None], str] = digest_of,
    is_elsewhere: Callable[[str], bool] = lambda path: False,
) -> Config:
    """The configuration with the SHA-256 of every input: other content is another input, whatever its path.

    Args:
      config: not resolved. See `digests_of` for the digests.
      find: returns the digest of a path; its other argument is the digest that the configuration gives.
      is_elsewhere: whether a path is on another machine; then `find` gets the whole path, not each of its files.

    Raises:
      ConfigError: an input does not have the digest that the configuration gives, or `find` raises a DataError.
    """
    content = config.model_dump(mode="json")
    faults: list[str] = []
    for setting in path_settings(type(config), content):
        if setting.form is None:
            continue
        section, digests, key = digests_of(content, setting)
        expected = digests.get(key)
        try:
            if is_elsewhere(setting.path):
                actual = find(setting.path, expected)
            else:
                files = _files_in_order(setting)
                actual = input_digest([find(file, expected if len(files) == 1 else None) for file in files])
        except DataError as error:
            faults.append(f"{setting.name}: {error}")
            continue
        if expected not in (None, actual):
            faults.append(
                f"{setting.name}: {setting.path} must have the SHA-256 {expected}; got {actual}. "
                f"The file has changed: restore it, or remove {section}.sha256 from the configuration."
            )
        digests[key] = actual
    if faults:
        raise ConfigError(faults)
    return type(config).model_validate(content)


def digests_here(config: Settings) -> dict[str, str | None]:
    """The digest of the present content of every input, by its dotted setting; None where the input is not here."""
    digests: dict[str, str | None] = {}
    for path in path_settings(type(config), config.model_dump(mode="json")):
        if path.form:
            try:
                digests[path.name] = input_digest([digest_of(file) for file in _files_in_order(path)])
            except (DataError, OSError):
                digests[path.name] = None
    return digests


def _files_in_order(setting: PathSetting) -> list[str]:
    """The files of an input, in the order in which its digest is made from theirs."""
    if setting.form == "dump":
        return sorted(files_of_dump(setting.path))
    if setting.form == "text_vectors":
        return files_of_vectors(setting.path)
    if setting.form != "saved_model":
        return [setting.path]
    if not is_remote(setting.path):
        return files_of_saved_model(setting.path)
    from tfx.dsl.io import fileio

    return files_of_saved_model(setting.path, fileio.walk)
