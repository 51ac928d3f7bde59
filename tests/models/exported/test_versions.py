"""Fingerprints of exported models."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.exported.versions import model_fingerprint

pytestmark = pytest.mark.tensors

FILES = st.dictionaries(st.sampled_from(["a", "b", "c/a", "c/d/a"]), st.binary(max_size=2), max_size=3)


def write(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


@given(FILES, FILES)
def test_fingerprints_are_equal_where_names_and_contents_are(first, second):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder, name), files) for name, files in (("first", first), ("second", second))]
        assert (model_fingerprint(paths[0]) == model_fingerprint(paths[1])) == (first == second)


GRAPH = {"saved_model.pb": b"graph"}
LARGE = bytes((1 << 20) + 1)  # more than is read at once
ADDED = ("MODEL_CARD.md", "assets.extra/tf_serving_warmup_requests")
BACKUPS = ("assets.extra/.example_queries.json.swp", "assets.extra/example_queries.json~", "MODEL_CARD.md.bak")


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [
        ({"shard": LARGE}, {"shard": LARGE[:-1] + b"\1"}, False),
        (GRAPH, {**GRAPH, **dict.fromkeys((*ADDED, *BACKUPS), b"of a push, or of an editor")}, True),
        (GRAPH, {**GRAPH, "assets/words": b"a part of the model"}, False),
        (GRAPH, {**GRAPH, "assets/MODEL_CARD.md": b"of the model's own"}, False),
    ],
)
def test_files_of_the_model_alone_count_and_to_their_last_byte(tmp_path, first, second, are_equal):
    prints = [model_fingerprint(write(tmp_path / str(number), files)) for number, files in enumerate((first, second))]
    assert (prints[0] == prints[1]) == are_equal
