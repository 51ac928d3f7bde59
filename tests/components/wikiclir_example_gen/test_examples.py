"""The files of examples."""

import re

import pytest
import tensorflow as tf

pytestmark = pytest.mark.stages


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_examples_read_back_the_same_from_numbered_gzipped_files(tmp_path, count):
    import apache_beam as beam

    from components.wikiclir_example_gen.examples import WriteExamples

    examples = [b"%d\n\x00\xff" % number for number in range(count)]
    with beam.Pipeline(argv=[]) as pipeline:
        pipeline | beam.Create(examples) | WriteExamples(str(tmp_path / "split" / "data_tfrecord"))
    paths = sorted((tmp_path / "split").iterdir())
    assert [re.fullmatch(r"data_tfrecord-(\d{5})-of-(\d{5})\.gz", path.name).groups() for path in paths] == [
        (f"{number:05}", f"{len(paths):05}") for number in range(len(paths))
    ]
    assert paths and all(path.read_bytes().startswith(b"\x1f\x8b") for path in paths)
    records = tf.data.TFRecordDataset([str(path) for path in paths], "GZIP").as_numpy_iterator()
    assert sorted(records) == sorted(examples)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 200])
def test_there_are_as_many_files_as_asked_and_a_hash_of_an_example_chooses_its_file(tmp_path, count, shards):
    import apache_beam as beam

    from components.wikiclir_example_gen.examples import WriteExamples

    examples = [b"%d\n\x00\xff" % number for number in range(count)]
    found = []
    for name, order in (("one", examples), ("other", examples[::-1])):
        with beam.Pipeline(argv=[]) as pipeline:
            pipeline | beam.Create(order) | WriteExamples(str(tmp_path / name / "data_tfrecord"), shards)
        paths = sorted((tmp_path / name).iterdir())
        assert [path.name for path in paths] == [f"data_tfrecord-{n:05}-of-{shards:05}.gz" for n in range(shards)]
        found.append([sorted(tf.data.TFRecordDataset(str(path), "GZIP").as_numpy_iterator()) for path in paths])
    assert found[0] == found[1]
    assert sorted(record for of_file in found[0] for record in of_file) == sorted(examples)
