"""The files of examples."""

import pytest
import tensorflow as tf

pytestmark = pytest.mark.stages


def test_examples_read_back_the_same_and_with_a_number_of_files_a_hash_chooses_the_file(tmp_path):
    import apache_beam as beam

    from components.wikiclir_example_gen.examples import WriteExamples

    examples = [b"%d\n\x00\xff" % number for number in range(200)]
    written = {
        "chosen by the runner": (examples, None),
        "none, chosen by the runner": ([], None),
        "three": (examples, 3),
        "three, reversed": (examples[::-1], 3),
        "none, three": ([], 3),
    }
    with beam.Pipeline(argv=[]) as pipeline:
        for name, (records, shards) in written.items():
            write = WriteExamples(str(tmp_path / name / "data_tfrecord"), shards)
            _ = pipeline | f"{name}/Create" >> beam.Create(records) | f"{name}/Write" >> write
    contents = {}
    for name, (records, shards) in written.items():
        paths = sorted((tmp_path / name).iterdir())
        count = shards or len(paths)
        assert paths and [path.name for path in paths] == [
            f"data_tfrecord-{number:05}-of-{count:05}.gz" for number in range(count)
        ]
        assert all(path.read_bytes().startswith(b"\x1f\x8b") for path in paths)
        contents[name] = [sorted(tf.data.TFRecordDataset(str(path), "GZIP").as_numpy_iterator()) for path in paths]
        assert sorted(record for records_of_file in contents[name] for record in records_of_file) == sorted(records)
    assert contents["three"] == contents["three, reversed"] and all(contents["three"])
