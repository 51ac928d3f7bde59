"""Artifacts for executors. TensorFlow and TFX are imported on use: tests without a mark do without them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest

from tests.components.collected import collect

Lists: TypeAlias = Mapping[str, tuple[str, Mapping[str, tuple[str, int]]]]


@pytest.fixture(scope="session")
def make_artifact() -> Callable[..., Any]:
    """Makes an artifact of one of TFX's standard types, or of ours, with a new folder of its own."""
    from tfx.types import artifact_utils, standard_artifacts

    from schemas import artifacts

    def make(type_name: str, parent: Path, splits: Sequence[str] = ()) -> Any:
        artifact = (getattr(artifacts, type_name, None) or getattr(standard_artifacts, type_name))()
        artifact.uri = str(parent / type_name)
        for folder in [f"Split-{split}" for split in splits] or [""]:
            (parent / type_name / folder).mkdir(parents=True)
        if splits:
            artifact.split_names = artifact_utils.encode_split_names(list(splits))
        return artifact

    return make


@pytest.fixture(scope="session")
def make_collection(make_artifact) -> Callable[..., Any]:
    """Makes a Collection artifact of the content of each role's file, which is written beside it."""

    def make(parent: Path, contents: Mapping[str, bytes]) -> Any:
        collection = make_artifact("Collection", parent)
        collect(Path(collection.uri), contents)
        return collection

    return make


@pytest.fixture(scope="session")
def make_examples(make_artifact) -> Callable[..., Any]:
    """Makes an Examples artifact of the lists of its test split, and of its train and eval splits if they are given.

    Lists are query_id to (text, {doc_id: (text, grade)}); a query id `name/...` has the domain `name`.
    """
    import tensorflow as tf

    from components.wikiclir_example_gen.examples import make_example
    from schemas.wikiclir import Text

    nothing: Lists = MappingProxyType({})

    def make(parent: Path, lists: Lists, train: Lists = nothing, evaluation: Lists = nothing) -> Any:
        examples = make_artifact("Examples", parent, ["train", "eval", "test"])
        write(f"{examples.uri}/Split-train", train)
        write(f"{examples.uri}/Split-eval", evaluation)
        write(f"{examples.uri}/Split-test", lists)
        return examples

    def write(folder: str, lists: Lists) -> None:
        with tf.io.TFRecordWriter(f"{folder}/data_tfrecord-00000-of-00001.gz", "GZIP") as writer:
            for query_id, (query_text, documents) in lists.items():
                texts = [(doc_id, b"a title", text.encode(), b"") for doc_id, (text, _) in documents.items()]
                grades = [grade for _, grade in documents.values()]
                domain, has_domain, _ = query_id.partition("/")
                query = Text(query_id, "a title", query_text, 1)
                example = make_example(query, texts, grades, [-1] * len(grades), domain if has_domain else "")
                writer.write(example.SerializeToString())

    return make
