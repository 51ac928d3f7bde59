"""Reads the configuration of a run in a cluster, checks that it can run there, and finds its inputs' digests."""

import glob
from collections.abc import Callable, Iterator, Sequence

from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.input_files import digest_of, is_remote, resolve_digests
from schemas.errors import ConfigError, DataError


def load_cluster_config(path: str, overrides: Sequence[str], say: Callable[[str], None]) -> RunConfig:
    """Reads, checks and resolves a configuration; the cluster's cache identifies inputs by its digests.

    Inputs are read here, except an input on Google Cloud Storage whose digest is given, and an input on a volume that
    is not mounted here. The stage that reads such an input compares the digests.

    Args:
      path, overrides: see `load_config`.
      say: called with a warning for each path of this machine: a cluster has it only if the image has it.

    Raises:
      ConfigError: with every fault, each with its location.
    """
    config = load_config(path, overrides, for_cluster=True)
    if faults := [f"{path}: {fault}" for fault in _faults(config)]:
        raise ConfigError(faults)
    config = resolve_digests(
        config, lambda file, expected: _digest(config, file, expected), is_elsewhere=config.kubeflow.is_elsewhere
    )
    for line in _paths_of_this_machine(config):
        say(f"warning: {line}")
    return config


def _faults(config: RunConfig) -> Iterator[str]:
    if config.kubeflow.image is None:
        yield "kubeflow.image: must be given, or --image IMAGE: the container image that every stage runs in."
    if config.beam.runner != "in_process":
        yield (
            "beam.runner: must be in_process in a cluster, where each stage's artifacts lie on its own pod's disk, "
            f"which no other worker sees; got {config.beam.runner!r}."
        )
    if config.search.index and is_remote(config.output):
        yield (
            "search.index: must be false where output lies on gs://, because versions of an index are made by renaming "
            f"folders; got output {config.output}: choose an output in a volume (kubeflow.volumes)."
        )


def _digest(config: RunConfig, path: str, expected: str | None) -> str:
    is_pattern = glob.has_magic(path)
    if config.kubeflow.is_elsewhere(path):
        if is_pattern or expected is None:
            raise DataError(_unread(path, is_pattern, "it lies on a volume that is not mounted here"))
        return expected
    if is_remote(path):
        if expected is not None and not is_pattern:
            return expected
        try:
            return digest_of(path)
        except Exception as error:  # of a class of TensorFlow's, or of the cloud's own libraries
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(_unread(path, is_pattern, reason)) from None
    return digest_of(path)


def _unread(path: str, is_pattern: bool, reason: str) -> str:
    if is_pattern:
        return f"The files of the pattern {path} cannot be listed when compiling: {reason}. Name a single file."
    return f"{path} cannot be read when compiling: {reason}. Give its SHA-256 in sha256 (sha256sum FILE prints it)."


def _paths_of_this_machine(config: RunConfig) -> Iterator[str]:
    paths = {**config.inputs(), "output": config.output}
    local = {key: path for key, path in paths.items() if not is_remote(path) and not config.kubeflow.is_on_volume(path)}
    output = local.pop("output", None)
    for key, path in local.items():
        yield f"{key} is {path}: this file must be in the image, on gs:// or in kubeflow.volumes"
    if output:
        yield f"output is {output}: models pushed there are lost with the container; choose gs:// or kubeflow.volumes"
