"""Mean embedding: stems, idf pooling, the parts of words, and word dropout; `test_every_encoder.py` has its laws."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from tensorflow.python.eager import context

from models.layers.mean_embedding import MeanEmbedding
from tests import reference

pytestmark = pytest.mark.tensors

VOCABULARY_SIZE, STEMS, DIM = 9, 5, 4
IDF, STEM_IDF = np.linspace(0.5, 4, VOCABULARY_SIZE), np.linspace(3, 1, STEMS)
LAYERS = {
    "words": {},
    "stems": {"stem_vocabulary_size": STEMS},
    "idf": {
        "stem_vocabulary_size": STEMS,
        "pooling": "idf",
        "idf": IDF.astype(np.float32),
        "stem_idf": STEM_IDF.astype(np.float32),
    },
}
texts_and_stems = st.lists(
    st.tuples(
        st.lists(st.integers(0, VOCABULARY_SIZE - 1), max_size=6), st.lists(st.integers(0, STEMS - 1), max_size=6)
    ),
    min_size=1,
    max_size=4,
)


def ragged(tokens):
    return tf.ragged.constant(tokens, tf.int32, ragged_rank=1)


def make(size=VOCABULARY_SIZE, **values):
    layer = MeanEmbedding(size, DIM, initial_scale=1.0, seed=1, **values)
    layer.build(None)
    return layer


@pytest.fixture(scope="module")
def layers():
    return {name: make(**values) for name, values in LAYERS.items()}


def gradient(layer, tokens):
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(layer(tokens))
    return tape.gradient(value, layer.table)


def test_compiled_steps_never_read_the_whole_table():
    layer = make()

    @tf.function
    def steps(tokens):
        for _ in tf.range(2):
            layer.table.scatter_sub(gradient(layer, tokens))

    tensorflow = context.context()
    tensorflow.enable_run_metadata()
    try:
        steps(ragged([[1, 1, 4], [4]]))
        graphs = tensorflow.export_run_metadata().partition_graphs
    finally:
        tensorflow.disable_run_metadata()
    ops = {node.op for graph in graphs for node in graph.node}  # as TensorFlow's optimizers left them
    assert {"ResourceGather", "ResourceScatterSub"} <= ops
    assert "ReadVariableOp" not in ops


# Stems and idf pooling


@given(texts=texts_and_stems)
def test_vectors_with_stems_agree_with_the_reference_and_gradients_hold_the_rows_that_occur(layers, texts):
    tokens, stems = zip(*texts, strict=True)
    for name, idf, stem_idf in (("stems", np.ones(VOCABULARY_SIZE), np.ones(STEMS)), ("idf", IDF, STEM_IDF)):
        layer = layers[name]
        tables = [layer.table, layer.stem_table]
        with tf.GradientTape() as tape:
            vectors = layer(ragged(tokens), stems=ragged(stems))
        expected = [
            reference.mean_by_idf_with_stems(*(table.numpy() for table in tables), idf, stem_idf, *text)
            for text in texts
        ]
        np.testing.assert_allclose(vectors, expected, atol=1e-6)
        for slices, rows in zip(tape.gradient(vectors, tables), (tokens, stems), strict=True):
            assert isinstance(slices, tf.IndexedSlices)
            assert sorted(slices.indices.numpy()) == sorted({row for text in rows for row in text})
            assert np.isfinite(slices.values).all()


def test_no_stem_and_equal_idf_are_the_plain_mean(layers):
    tokens = ragged([[2, 5, 2], [], [1]])
    plain = layers["words"](tokens)
    np.testing.assert_array_equal(make(stem_vocabulary_size=0)(tokens, stems=ragged([[]] * 3)), plain)
    np.testing.assert_allclose(make(pooling="idf")(tokens), plain, atol=1e-6)


def test_another_pooling_is_refused():
    with pytest.raises(ValueError, match="mean .*idf; got 'max'"):
        make(pooling="max")


# What each word adds


@given(words=texts_and_stems)
def test_the_parts_of_a_texts_words_add_up_to_its_vector(layers, words):
    tokens, stems = (ragged(rows) for rows in zip(*words, strict=True))
    text, text_stems = (ragged([sum(rows, [])]) for rows in zip(*words, strict=True))
    for name, layer in layers.items():
        has_stems = name != "words"
        parts = layer.word_parts(tokens, *[stems] * has_stems)
        assert parts.shape == (len(words), DIM)
        vector = layer(text, stems=text_stems if has_stems else None)[0]
        np.testing.assert_allclose(tf.reduce_sum(parts, axis=0), vector, atol=1e-5)


def test_a_words_part_is_its_share_of_the_mean_times_tanh_of_the_mean_over_the_mean(layers):
    table, stem_table = (layers["stems"].table.numpy(), layers["stems"].stem_table.numpy())
    parts = layers["stems"].word_parts(ragged([[2], [], [5], []]), ragged([[1], [3], [], []]))
    mean = (table[2] + table[5]) / 2 + (stem_table[1] + stem_table[3]) / 2
    words = [table[2] / 2 + stem_table[1] / 2, stem_table[3] / 2, table[5] / 2, np.zeros(DIM)]
    np.testing.assert_allclose(parts, np.tanh(mean) / mean * words, atol=1e-6)


def test_where_the_mean_is_zero_the_factor_is_one():
    layer = make(2)
    layer.table.assign([[1.0] * DIM, [-1.0] * DIM])
    np.testing.assert_allclose(layer.word_parts(ragged([[0], [1]])), [[0.5] * DIM, [-0.5] * DIM])


# Word dropout


def sums_in_training(layer, tokens, **stems):
    """The distinct sums, before tanh, of the rows that are left in a step."""
    vectors = layer(ragged(tokens), training=True, **stems)
    return {round(float(value), 3) for value in np.arctanh(vectors)[:, 0]}


@pytest.mark.parametrize(("share", "dropout"), [(0.1, 0.0), (0.25, 0.3), (0.7, 0.0)])
def test_word_dropout_leaves_out_its_share_and_scales_nothing(share, dropout):
    layer = make(1, word_dropout=share, dropout=dropout)
    layer.table.assign(tf.ones([1, DIM]))
    words = np.arctanh(layer(ragged([[0]] * 2000), training=True).numpy())
    kept = words.any(axis=1)
    error = np.sqrt(share * (1 - share) / len(words))
    # A word whose components are all dropped looks left out, too.
    assert 1 - kept.mean() == pytest.approx(1 - (1 - share) * (1 - dropout**DIM), abs=4 * error)
    np.testing.assert_allclose(words[words > 0], 1 / (1 - dropout), rtol=1e-5)


def test_the_mean_is_over_the_words_that_are_left():
    layer = make(2, word_dropout=0.5)
    layer.table.assign([[1.0] * DIM, [3.0] * DIM])
    assert sums_in_training(layer, [[0, 1]] * 200) == {0, 1, 2, 3}


def test_the_stems_of_a_text_are_left_out_apart_from_its_words():
    layer = make(1, word_dropout=0.5, stem_vocabulary_size=1)
    layer.table.assign([[0.25] * DIM])
    layer.stem_table.assign([[0.5] * DIM])
    assert sums_in_training(layer, [[0]] * 200, stems=ragged([[0]] * 200)) == {0, 0.25, 0.5, 0.75}


def test_with_idf_pooling_word_dropout_weighs_the_words_that_are_left():
    layer = make(word_dropout=0.4, pooling="idf", idf=IDF.astype(np.float32))
    tokens = ragged([[number % VOCABULARY_SIZE] for number in range(60)])
    kept, whole = layer(tokens, training=True).numpy(), layer(tokens).numpy()
    is_left = kept.any(axis=1)
    assert 0 < is_left.sum() < len(whole)
    np.testing.assert_allclose(kept[is_left], whole[is_left], atol=1e-6)  # the weight of a single word is 1


def test_gradient_of_a_step_with_word_dropout_holds_the_rows_that_are_left():
    layer = make(word_dropout=0.5)
    with tf.GradientTape() as tape:
        vectors = layer(ragged([[row] for row in range(VOCABULARY_SIZE)]), training=True)
    slices = tape.gradient(vectors, layer.table)
    assert sorted(slices.indices.numpy()) == np.flatnonzero(vectors.numpy().any(axis=1)).tolist()
