"""The inputs of a run by their content: another content is another input, whatever its path and time stamp."""

from collections.abc import Callable

from pipeline.config import RunConfig
from pipeline.paths import files_of, sha256_of_file
from schemas.errors import ConfigError, DataError
from schemas.input_digest import input_digest
from schemas.settings import Settings


def input_files(config: RunConfig) -> dict[str, list[str]]:
    """The files of each role of the collection that is given."""
    return {role: files_of(path) for role, path in config.input_paths().items()}


def digest_of(path: str, given: str | None = None) -> str:
    """The digest of an input as it is, whatever digest the configuration gives."""
    return input_digest([sha256_of_file(file) for file in files_of(path)])


def resolve_digests(config: RunConfig, find: Callable[[str, str | None], str] = digest_of) -> RunConfig:
    """The configuration with the SHA-256 of every input.

    Args:
      config: not resolved.
      find: takes the path of an input and the digest that the configuration gives, and returns the digest that it has.

    Raises:
      ConfigError: an input does not have the digest that the configuration gives, or `find` raises a DataError.
    """
    resolved: dict[str, Settings] = {}
    faults = []
    for name, paths in (
        ("data", config.input_paths()),
        ("embeddings", config.vector_paths()),
        ("lexicon", config.pair_paths()),
    ):
        section = getattr(config, name)
        digests = {}
        for key, path in paths.items():
            expected = getattr(section.sha256, key)
            try:
                digests[key] = find(path, expected)
            except DataError as error:
                faults.append(f"{name}.{key}: {error}")
                continue
            if expected not in (None, digests[key]):
                faults.append(
                    f"{name}.{key}: {path} must have the SHA-256 {expected}; got {digests[key]}. "
                    f"The file has changed: restore it, or remove {name}.sha256 from the configuration."
                )
        resolved[name] = section.model_copy(update={"sha256": section.sha256.model_copy(update=digests)})
    if faults:
        raise ConfigError(faults)
    return config.model_copy(update=resolved)
