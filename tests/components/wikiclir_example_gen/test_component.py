"""WikiClirExampleGen with TFX's artifacts."""

import gzip
import json

import pytest
import tensorflow as tf

from schemas.errors import DataError
from schemas.splits import SPLITS

pytestmark = pytest.mark.stages


@pytest.fixture
def run(tmp_path, make_artifact, make_collection):
    """Runs the stage on a collection of files; returns its artifacts."""
    import apache_beam as beam

    from components.wikiclir_example_gen.component import WikiClirExampleGen
    from components.wikiclir_example_gen.lists import IngestSettings

    def run(contents, max_bad_share=0.0):
        collection = make_collection(tmp_path, contents)
        examples, report = make_artifact("Examples", tmp_path), make_artifact("IngestionReport", tmp_path)
        settings = IngestSettings(negatives=4, seed=1, max_queries=None, top_grade=2)
        WikiClirExampleGen.test_call(
            collection, examples, report, lambda: beam.Pipeline(argv=[]), settings, max_bad_share
        )
        return examples, json.loads((tmp_path / "IngestionReport" / "report.json").read_text())

    return run


@pytest.fixture
def contents(collection):
    return {role: "".join(line + "\n" for line in records).encode() for role, records in collection.items()}


def test_a_good_collection_becomes_examples_of_three_splits(run, contents):
    from tfx.components.util import examples_utils
    from tfx.proto import example_gen_pb2
    from tfx.types import artifact_utils

    examples, report = run(contents)
    assert artifact_utils.decode_split_names(examples.split_names) == [*SPLITS]
    assert examples_utils.get_payload_format(examples) == example_gen_pb2.FORMAT_TF_EXAMPLE
    assert examples_utils.get_file_format(examples) == "tfrecords_gzip"
    for split in SPLITS:
        files = tf.io.gfile.glob(artifact_utils.get_split_uri([examples], split) + "/data_tfrecord-*-of-*.gz")
        assert sum(1 for _ in tf.data.TFRecordDataset(files, "GZIP")) == report["lists"][split] > 0


def test_a_collection_that_is_too_bad_is_refused_and_its_report_stays(run, contents, tmp_path):
    # The compressed file ends after a third, so that judgments lose their documents as well.
    stored = gzip.compress(contents["documents"])
    with pytest.raises(DataError, match=r"documents:\d+: Compressed file ended") as error:
        run({**contents, "documents": stored[: len(stored) // 3]}, max_bad_share=0.2)
    assert "judgments: " in str(error.value) and "x unknown document" in str(error.value)
    report = json.loads((tmp_path / "IngestionReport" / "report.json").read_text())
    assert report["files"]["documents"]["drops"][0]["reason"] == "unreadable"
