"""Transform's preprocessing, analysed once over a small train split and applied eagerly."""

from pathlib import Path

import pytest
import tensorflow as tf
from google.protobuf import text_format

from schemas import features as f

pytestmark = pytest.mark.beam

VOCABULARY_SIZE = 3
MAX_TOKENS = 4

# Counts of the first four words of each text. Queries: red 4, fox 3, wolf 2; documents: renard 4, loup 3, roux 2.
LISTS = [
    ("Red red fox", ["Renard roux", "Loup"]),
    ("Red, red: fox wolf beyond beyond beyond", ["Renard", "Loup"]),
    ("Fox wolf bear", ["Renard", "Renard roux, loup gris: beyond beyond beyond beyond"]),
]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    import apache_beam as beam
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx_bsl.public.tfxio import TFExampleBeamRecord

    from components.transform.preprocessing import preprocessing_fn
    from components.wikiclir_example_gen.examples import make_example
    from schemas.wikiclir import Text

    folder = tmp_path_factory.mktemp("transform")
    schema = text_format.Parse((Path(f.__file__).parent / "schema.pbtxt").read_text(), schema_pb2.Schema())
    source = TFExampleBeamRecord(telemetry_descriptors=["test"], physical_format="inmem", schema=schema)
    records = [
        make_example(
            Text(str(query), "", text, 1),
            [(str(place), "", d) for place, d in enumerate(docs)],
            [0] * len(docs),
            range(len(docs)),
        ).SerializeToString()
        for query, (text, docs) in enumerate(LISTS)
    ]
    config = {"vocabulary_size": VOCABULARY_SIZE, "max_tokens": MAX_TOKENS}
    with beam.Pipeline(argv=[]) as pipeline, tft_beam.Context(temp_dir=str(folder / "temp")):
        data = pipeline | beam.Create(records) | source.BeamSource()
        function = (data, source.TensorAdapterConfig()) | tft_beam.AnalyzeDataset(
            lambda inputs: preprocessing_fn(inputs, config)
        )
        _ = function | tft_beam.WriteTransformFn(str(folder))
    return tft.TFTransformOutput(str(folder))


@pytest.fixture(scope="module")
def transform(output):
    """Applies the transform graph to lists of (query, documents)."""
    layer = output.transform_features_layer()

    def transform(lists):
        documents = tf.ragged.constant([docs for _, docs in lists])
        return layer(
            {
                f.QUERY_ID: tf.constant([str(place) for place in range(len(lists))]),
                f.QUERY_TEXT: tf.constant([text for text, _ in lists]),
                f.DOC_ID: documents,
                f.DOC_TEXT: documents,
                f.RELEVANCE: tf.ragged.constant([[0] * len(docs) for _, docs in lists], tf.int64),
            }
        )

    return transform


def words_of(output, vocabulary):
    return [word.decode() for word in output.vocabulary_by_name(vocabulary)]


def test_each_language_has_a_vocabulary_of_its_most_frequent_words(output):
    assert words_of(output, f.QUERY_VOCABULARY) == ["red", "fox", "wolf"]
    assert words_of(output, f.DOCUMENT_VOCABULARY) == ["renard", "loup", "roux"]


def test_words_become_their_place_in_the_vocabulary(transform):
    result = transform([("fox wolf RED", ["roux renard", "loup"]), ("wolf", ["Loup"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1, 2, 0], [2]]
    assert result[f.DOC_TOKENS].to_list() == [[[2, 0], [1]], [[1]]]


def test_words_outside_the_vocabulary_are_left_out(transform):
    # "renard" is a word of documents alone, "bear" and "gris" are too rare.
    result = transform([("bear fox renard", ["gris loup fox", "gris", ""]), ("", ["renard"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1], []]
    assert result[f.DOC_TOKENS].to_list() == [[[1], [], []], [[0]]]


def test_texts_are_cut_before_words_are_left_out(transform):
    result = transform([("bear bear bear fox red", ["renard gris gris gris loup"])])
    assert result[f.QUERY_TOKENS].to_list() == [[1]]
    assert result[f.DOC_TOKENS].to_list() == [[[0]]]


def test_ids_and_grades_pass_through(transform):
    result = transform([("fox", ["renard", "loup"]), ("wolf", ["roux"])])
    assert result[f.QUERY_ID].numpy().tolist() == [b"0", b"1"]
    assert result[f.DOC_ID].to_list() == [[b"renard", b"loup"], [b"roux"]]
    assert result[f.RELEVANCE].to_list() == [[0, 0], [0]]
