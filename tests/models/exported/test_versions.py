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
def test_fingerprints_are_equal_where_names_and_contents_are(one, other):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder, name), files) for name, files in (("one", one), ("other", other))]
        assert (model_fingerprint(paths[0]) == model_fingerprint(paths[1])) == (one == other)


def test_a_difference_in_the_last_byte_of_a_large_file_is_seen(tmp_path):
    large = bytes((1 << 20) + 1)  # more than is read at once
    one, same, other = (
        write(tmp_path / name, {"shard": content})
        for name, content in (("one", large), ("same", large), ("other", large[:-1] + b"\1"))
    )
    assert model_fingerprint(one) == model_fingerprint(same) != model_fingerprint(other)


def test_a_backup_of_a_file_that_people_edit_does_not_change_the_fingerprint(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"graph")
    before = model_fingerprint(str(tmp_path))
    (tmp_path / "assets.extra").mkdir()
    for name in ("assets.extra/.example_queries.json.swp", "assets.extra/example_queries.json~", "MODEL_CARD.md.bak"):
        (tmp_path / name).write_bytes(b"mine")
    assert model_fingerprint(str(tmp_path)) == before
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "words").write_bytes(b"a part of the model")
    assert model_fingerprint(str(tmp_path)) != before


def test_the_files_that_a_push_adds_do_not_change_the_fingerprint(tmp_path):
    files = {"saved_model.pb": b"graph"}
    added = {"MODEL_CARD.md": b"# Model card", "assets.extra/tf_serving_warmup_requests": b"requests"}
    model, version = (write(tmp_path / name, content) for name, content in (("model", files), ("v", files | added)))
    assert model_fingerprint(model) == model_fingerprint(version)
    other = write(tmp_path / "other", {**files, "assets/MODEL_CARD.md": b"of the model's own"})
    assert model_fingerprint(model) != model_fingerprint(other)
