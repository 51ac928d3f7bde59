"""The inputs of a run by their content: another content is another input, whatever its path and time stamp."""

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.config import RunConfig
from pipeline.dump_files import files_of_dump
from pipeline.input_files import files_of, sha256_of_file
from schemas.byte_streams import input_digest
from schemas.errors import ConfigError, DataError


def input_files(config: RunConfig) -> dict[str, list[str]]:
    """The files of each role of the collection that is given."""
    return {role: files_of(path) for role, path in config.input_paths().items()}


def dump_files(config: RunConfig) -> dict[str, list[str]]:
    """The files of each dump that is given, in the order of their pages, by its key in `data.wikipedia`."""
    return {key: files_of_dump(path) for key, path in config.dump_paths().items()}


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
    data, embeddings, lexicon = config.data, config.embeddings, config.lexicon
    faults: list[str] = []

    def digests(section: str, paths: Mapping[str, str], given: Mapping[str, str | None], below: str = "") -> Any:
        """The digests of a section's inputs; what is wrong with them joins the faults."""
        found = {}
        for key, path in paths.items():
            try:
                files = sorted(files_of_dump(path)) if below else [path]
                own = [find(file, given.get(key) if len(files) == 1 else None) for file in files]
                found[key] = input_digest(own)
            except DataError as error:
                faults.append(f"{section}.{below}{key}: {error}")
                continue
            if given.get(key) not in (None, found[key]):
                faults.append(
                    f"{section}.{below}{key}: {path} must have the SHA-256 {given[key]}; got {found[key]}. "
                    f"The file has changed: restore it, or remove {section}.sha256 from the configuration."
                )
        return found

    of_data = digests("data", config.input_paths(), dict(data.sha256))
    if data.wikipedia:
        of_data["wikipedia"] = digests("data", config.dump_paths(), data.sha256.wikipedia, "wikipedia.")
    of_embeddings = digests("embeddings", config.vector_paths(), dict(embeddings.sha256))
    of_lexicon = digests("lexicon", config.pair_paths(), dict(lexicon.sha256))
    if faults:
        raise ConfigError(faults)
    return config.model_copy(
        update={
            "data": _with_digests(data, of_data),
            "embeddings": _with_digests(embeddings, of_embeddings),
            "lexicon": _with_digests(lexicon, of_lexicon),
        }
    )


def _with_digests(section: Any, digests: Mapping[str, Any]) -> Any:
    return section.model_copy(update={"sha256": section.sha256.model_copy(update=digests)})
