"""Runs of the whole pipeline on the sample, shared by all tests here."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.process import SAMPLE, SampleRun, copy_code, forked, fresh


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A run of the paper's system with few epochs, on a copy of the sample beside its output.

    No test changes its folder but by an identical run, or it puts it back as it was.
    """
    folder = tmp_path_factory.mktemp("run")
    shutil.copytree(SAMPLE, folder / "data")
    files = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
    settings = ["preset=paper", "training.epochs=12", *(f"data.{key}={folder / 'data' / files[key]}" for key in files)]
    run = SampleRun(folder / "out", "configs/sample.yaml", *(f"--set={setting}" for setting in settings), start=fresh)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="session")
def model_path(sample_run: SampleRun) -> str:
    """The SavedModel that the run pushed."""
    (version,) = sample_run.versions
    return str(version)


def write_encoder(folder: Path) -> None:
    """Writes a SavedModel whose vectors count trigrams of bytes."""
    import tensorflow as tf  # not where quick tests collect this file

    class Trigrams(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts: tf.Tensor) -> tf.Tensor:
            grams = tf.strings.ngrams(tf.strings.bytes_split(tf.strings.join(["^", texts, "$"])), 3, separator="")
            rows = tf.one_hot(tf.strings.to_hash_bucket_fast(grams.flat_values, 64), 64)
            return tf.math.segment_sum(rows, grams.value_rowids())

    encoder = Trigrams()
    tf.saved_model.save(encoder, str(folder), signatures=encoder.__call__)


@pytest.fixture(scope="session")
def search_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A run of the default preset with few epochs, a pre-trained encoder, an index of the collection, and the paper's
    system beside it; on a copy of the code beside its output.

    No test changes its folder but by an identical run.
    """
    folder = tmp_path_factory.mktemp("search")
    code = copy_code(folder / "code")
    write_encoder(folder / "encoder")
    settings = [
        f"channels.encoder={{kind: saved_model, path: {folder / 'encoder'}, weight: 0.05}}",
        *("training.epochs=6", "evaluation.baselines=[bm25, paper]", "search.index=true"),
    ]
    sets = [f"--set={setting}" for setting in settings]
    run = SampleRun(folder / "out", "configs/sample.yaml", *sets, start=partial(forked, code=code))
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="session")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run of the sample with an index, of which the pages for Python and TF Serving are."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    run = SampleRun(folder, "configs/sample.yaml", "--set", "evaluation.baselines=[]", "--set", "search.index=true")
    assert run.code == 0, run.err
    return folder
