"""Each reader of JSON that others may have written: nested too deep, it is refused like any damaged file."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.beam_settings import PortableSettings
from pipeline.config_schema import is_config_schema
from pipeline.output_folder import RECORD_FILE, output_fault
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.evaluation import EvaluationReport
from schemas.forms import read_rows
from schemas.json_files import MAX_DEPTH, parse_json
from schemas.lexicon_pairs import parse_pairs
from schemas.served_versions import EXAMPLES_FILE, read_example_queries
from smooth_clir.cli.label import _output_fault
from smooth_clir.experiments.experiment import read_experiment
from smooth_clir.retrieval.index_files import MANIFEST_FILE, read_manifest


def nested(depth: int, kind: str) -> str:
    return "[" * depth + "]" * depth if kind == "lists" else '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)


def refused(read: Callable[[], object]) -> bool:
    with pytest.raises((DataError, ValueError)) as error:
        read()
    assert isinstance(error.value, DataError) or "validation error" in str(error.value)
    return True


def is_dropped(rows: object) -> bool:
    return [type(row) for row in rows] == [Drop]  # type: ignore[attr-defined]


READERS: dict[str, tuple[str, Callable[[Path, bytes], bool]]] = {
    "a report": ("r.json", lambda path, _: refused(lambda: EvaluationReport.read(path, "run it again"))),
    "the manifest of an index": (MANIFEST_FILE, lambda path, _: refused(lambda: read_manifest(str(path.parent)))),
    "an experiment": ("experiment.json", lambda path, _: refused(lambda: read_experiment(path.parent))),
    "the examples of a model": (
        EXAMPLES_FILE,
        lambda path, _: refused(lambda: read_example_queries(str(path.parents[1]))),
    ),
    "the environment of Beam": (
        "x",
        lambda _, text: refused(
            lambda: PortableSettings(endpoint="a:1", environment="process", environment_config=text.decode())
        ),
    ),
    "the account of labels": ("a.json", lambda path, _: "another" in (_output_fault(path.parent / "a", path) or "")),
    "the record of a folder": (RECORD_FILE, lambda path, _: output_fault(str(path.parent), "run") is not None),
    "a schema of configurations": ("s.json", lambda path, _: not is_config_schema(path)),
    "JSON lines": ("x", lambda _, text: is_dropped(read_rows("queries", io.BytesIO(b'{"id":' + text + b"}"), "f"))),
    "a JSON array": ("x", lambda _, text: is_dropped(read_rows("queries", io.BytesIO(b"[" + text + b"]"), "f"))),
    "a table of translations": ("x", lambda _, text: is_dropped(parse_pairs(io.BytesIO(text), "f.json"))),
}


@pytest.mark.parametrize("kind", ["lists", "objects"])
@pytest.mark.parametrize("depth", [200_000, 900, MAX_DEPTH + 2])
@pytest.mark.parametrize("reader", READERS)
def test_json_nested_too_deep_is_refused_by_each_reader(tmp_path: Path, reader: str, depth: int, kind: str) -> None:
    name, check = READERS[reader]
    text = nested(depth, kind).encode()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(text)
    assert check(tmp_path / name, text)


@pytest.mark.parametrize("kind", ["lists", "objects"])
def test_json_is_nested_as_deep_as_the_limit_and_no_deeper(kind: str) -> None:
    assert parse_json(nested(MAX_DEPTH, kind))
    with pytest.raises(ValueError, match=f"more than {MAX_DEPTH}"):
        parse_json(nested(MAX_DEPTH + 1, kind))
