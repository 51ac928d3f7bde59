"""What makes a stage the same stage, besides settings and inputs: its code, and the libraries that compute."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from tfx.dsl.components.base.base_component import BaseComponent

from components.stage import IDENTITY
from pipeline.fingerprint import code_digest
from pipeline.input_files import sha256_of_file

LIBRARIES: Final = (
    "apache-beam", "faiss-cpu", "keras", "keras-tuner", "matplotlib", "numpy", "scikit-learn", "scipy", "tensorflow",
    "tensorflow-data-validation", "tensorflow-ranking", "tensorflow-text", "tensorflow-transform", "tfx", "tfx-bsl",
)  # fmt: skip
"""Those that compute: another version of one may give other numbers."""

version = cache(importlib.metadata.version)
"""Of a library; it reads the library's files, and every stage asks for every one."""

_FUNCTIONS: Final = ("preprocessing_fn", "run_fn", "tuner_fn")
"""The execution properties that name a function of ours, which TFX's own executors call."""
_FILES: Final = ("schema_file",)
"""Those that name a file of ours."""


def give_identities(components: Iterable[BaseComponent]) -> None:
    """Gives every node the property `IDENTITY`.

    It is a digest of the project's modules behind the node, of the files of ours that it reads, and of the versions of
    Python and the libraries: where one of them changes, the node runs anew. Input files stand in the properties of the
    node that reads them, by their digests, and the modules behind the names in a training's settings in its job.
    """
    for component in components:
        executor = component.executor_spec.executor_class.__module__
        component.exec_properties[IDENTITY] = identity_of_stage(executor, component.exec_properties)


def identity_of_stage(executor: str, properties: Mapping[str, Any]) -> str:
    """The identity of a node.

    Args:
      executor: module of its executor.
      properties: its execution properties.
    """
    functions = [properties[name] for name in _FUNCTIONS if properties.get(name)]
    modules = [executor, *(function.rpartition(".")[0] for function in functions)]
    return identity(modules, [properties[name] for name in _FILES if properties.get(name)])


def identity(modules: Iterable[str], files: Iterable[str] = ()) -> str:
    """SHA-256 of modules, of all of ours that they import, of files, and of the versions of what computes.

    Args:
      modules: dotted names; those that are not the project's stand for their library.
      files: paths of local files.
    """
    parts = [
        code_digest(*modules),
        *(sha256_of_file(path) for path in files),
        platform.python_version(),
        *(f"{name} {version(name)}" for name in LIBRARIES),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
