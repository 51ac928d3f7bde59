"""Mean embedding: tanh of the mean of the tokens there are, and a gradient of the rows that occur."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from tensorflow.python.eager import context

from models.layers.mean_embedding import MeanEmbedding
from tests import reference

pytestmark = pytest.mark.tensors

VOCABULARY_SIZE, DIM = 9, 4


def ragged(tokens):
    return tf.ragged.constant(tokens, tf.int32, ragged_rank=1)


@pytest.fixture(scope="module")
def layer():
    layer = MeanEmbedding(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=1)
    layer.build(None)
    return layer


def gradient(layer, tokens):
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(layer(tokens))
    return tape.gradient(value, layer.table)


def test_vector_is_tanh_of_the_mean_of_the_two_rows(layer):
    table = layer.table.numpy()
    np.testing.assert_allclose(layer(ragged([[2, 5]]))[0], np.tanh((table[2] + table[5]) / 2), rtol=1e-6)


@pytest.mark.stages
def test_compiled_steps_never_read_the_whole_table():
    layer = MeanEmbedding(VOCABULARY_SIZE, DIM, seed=1)
    layer.build(None)

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


# Stems

STEMS = 5
stems_and_texts = st.lists(
    st.tuples(
        st.lists(st.integers(0, VOCABULARY_SIZE - 1), max_size=6), st.lists(st.integers(0, STEMS - 1), max_size=6)
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def stemmed():
    layer = MeanEmbedding(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=1, stem_vocabulary_size=STEMS)
    layer.build(None)
    return layer


@given(texts=stems_and_texts)
def test_vectors_with_stems_agree_with_the_reference(stemmed, texts):
    tokens, stems = zip(*texts, strict=True)
    tables = stemmed.table.numpy(), stemmed.stem_table.numpy()
    expected = [reference.mean_embedding_with_stems(*tables, *text) for text in texts]
    np.testing.assert_allclose(stemmed(ragged(tokens), stems=ragged(stems)), expected, atol=1e-6)


@given(texts=stems_and_texts)
def test_gradients_with_stems_hold_the_rows_that_occur_and_no_others(stemmed, texts):
    tokens, stems = zip(*texts, strict=True)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(stemmed(ragged(tokens), stems=ragged(stems)))
    for slices, ids in zip(tape.gradient(value, [stemmed.table, stemmed.stem_table]), (tokens, stems), strict=True):
        assert isinstance(slices, tf.IndexedSlices)
        assert sorted(slices.indices.numpy()) == sorted({one for text in ids for one in text})
        assert np.isfinite(slices.values).all()


def test_a_word_that_is_not_known_keeps_its_stem(stemmed):
    vector = stemmed(ragged([[]]), stems=ragged([[2]]))[0]
    np.testing.assert_allclose(vector, np.tanh(stemmed.stem_table.numpy()[2]), rtol=1e-6)


def test_no_stem_at_all_is_the_plain_mean(layer):
    stemmed = MeanEmbedding(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=1, stem_vocabulary_size=0)
    tokens = ragged([[2, 5], [1]])
    np.testing.assert_array_equal(stemmed(tokens, stems=ragged([[], []])), layer(tokens))


# Idf pooling

IDF, STEM_IDF = np.linspace(0.5, 4, VOCABULARY_SIZE), np.linspace(3, 1, STEMS)


@pytest.fixture(scope="module")
def weighted():
    layer = MeanEmbedding(
        VOCABULARY_SIZE,
        DIM,
        initial_scale=1.0,
        seed=1,
        stem_vocabulary_size=STEMS,
        pooling="idf",
        idf=IDF.astype(np.float32),
        stem_idf=STEM_IDF.astype(np.float32),
    )
    layer.build(None)
    return layer


@given(texts=stems_and_texts)
def test_with_idf_pooling_both_means_are_weighted(weighted, texts):
    tokens, stems = zip(*texts, strict=True)
    tables = weighted.table.numpy(), weighted.stem_table.numpy()
    expected = [reference.mean_by_idf_with_stems(*tables, IDF, STEM_IDF, *text) for text in texts]
    np.testing.assert_allclose(weighted(ragged(tokens), stems=ragged(stems)), expected, atol=1e-6)


@given(words=stems_and_texts)
def test_with_idf_pooling_the_parts_of_words_add_up_too(weighted, words):
    tokens, stems = (ragged(ids) for ids in zip(*words, strict=True))
    text = [ragged([sum(ids, [])]) for ids in zip(*words, strict=True)]
    parts = weighted.word_parts(tokens, stems)
    np.testing.assert_allclose(tf.reduce_sum(parts, axis=0), weighted(text[0], stems=text[1])[0], atol=1e-5)


def test_equal_idf_is_the_plain_mean(layer):
    equal = MeanEmbedding(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=1, pooling="idf")
    tokens = ragged([[2, 5, 2], [], [1]])
    np.testing.assert_allclose(equal(tokens), layer(tokens), atol=1e-6)


def test_with_idf_pooling_word_dropout_weighs_the_words_that_are_left():
    layer = dropping(0.4, VOCABULARY_SIZE, initial_scale=1.0, pooling="idf", idf=IDF.astype(np.float32))
    tokens = [[place % VOCABULARY_SIZE] for place in range(60)]
    kept = layer(ragged(tokens), training=True).numpy()
    whole = layer(ragged(tokens)).numpy()
    is_left = kept.any(axis=1)
    assert 0 < is_left.sum() < len(tokens)
    np.testing.assert_allclose(kept[is_left], whole[is_left], atol=1e-6)  # the weight of a single word is 1


def test_another_pooling_is_refused():
    with pytest.raises(ValueError, match=r"pooling must be mean or idf; got 'max'\."):
        MeanEmbedding(VOCABULARY_SIZE, DIM, pooling="max")


# What each word adds


@given(words=stems_and_texts)
def test_the_parts_of_a_texts_words_add_up_to_its_vector(stemmed, layer, words):
    tokens, stems = (ragged(ids) for ids in zip(*words, strict=True))
    text = [ragged([sum(ids, [])]) for ids in zip(*words, strict=True)]
    parts = stemmed.word_parts(tokens, stems)
    assert parts.shape == (len(words), DIM)
    np.testing.assert_allclose(tf.reduce_sum(parts, axis=0), stemmed(text[0], stems=text[1])[0], atol=1e-6)
    np.testing.assert_allclose(tf.reduce_sum(layer.word_parts(tokens), axis=0), layer(text[0])[0], atol=1e-6)


def test_a_words_part_is_its_share_of_the_mean_times_tanh_of_the_mean_over_the_mean(stemmed):
    table, stem_table = stemmed.table.numpy(), stemmed.stem_table.numpy()
    parts = stemmed.word_parts(ragged([[2], [], [5], []]), ragged([[1], [3], [], []]))
    mean = (table[2] + table[5]) / 2 + (stem_table[1] + stem_table[3]) / 2
    factor = np.tanh(mean) / mean
    words = [table[2] / 2 + stem_table[1] / 2, stem_table[3] / 2, table[5] / 2, np.zeros(DIM)]
    np.testing.assert_allclose(parts, factor * words, atol=1e-6)


def test_where_the_mean_is_zero_the_factor_is_one():
    layer = dropping(0.0, 2)
    layer.table.assign([[1.0] * DIM, [-1.0] * DIM])
    np.testing.assert_allclose(layer.word_parts(ragged([[0], [1]])), [[0.5] * DIM, [-0.5] * DIM])


# Word dropout


def dropping(share, size=1, **values):
    layer = MeanEmbedding(size, DIM, seed=1, word_dropout=share, **values)
    layer.build(None)
    return layer


def test_word_dropout_acts_in_training_alone_and_otherwise_in_every_step(layer):
    tokens = ragged([[2, 5, 7, 1], [], [7, 3, 0, 0, 8], [4]])
    one, again = (dropping(0.4, VOCABULARY_SIZE, initial_scale=1.0) for _ in range(2))
    np.testing.assert_array_equal(one(tokens), layer(tokens))
    steps = [one(tokens, training=True).numpy() for _ in range(3)]
    assert len({step.tobytes() for step in [*steps, one(tokens).numpy()]}) == 4
    np.testing.assert_array_equal([again(tokens, training=True) for _ in range(3)], steps)
    assert not any(step[1].any() for step in steps)


@given(share=st.sampled_from([0.1, 0.25, 0.7]), dropout=st.sampled_from([0.0, 0.3]))
def test_word_dropout_leaves_out_its_share_and_scales_nothing(share, dropout):
    layer = dropping(share, dropout=dropout)
    layer.table.assign(tf.ones([1, DIM]))
    words = np.arctanh(layer(ragged([[0]] * 2000), training=True).numpy())
    kept = words.any(axis=1)
    error = np.sqrt(share * (1 - share) / len(words))
    # A word whose components are all dropped looks left out, too.
    assert 1 - kept.mean() == pytest.approx(1 - (1 - share) * (1 - dropout**DIM), abs=4 * error)
    np.testing.assert_allclose(words[words > 0], 1 / (1 - dropout), rtol=1e-5)


def test_the_mean_is_over_the_words_that_are_left():
    layer = dropping(0.5, 2)
    layer.table.assign([[1.0] * DIM, [3.0] * DIM])
    found = {round(float(one), 3) for one in np.arctanh(layer(ragged([[0, 1]] * 200), training=True))[:, 0]}
    assert found == {0, 1, 2, 3}


def test_the_stems_of_a_text_are_left_out_apart_from_its_words():
    layer = dropping(0.5, stem_vocabulary_size=1)
    layer.table.assign([[0.25] * DIM])
    layer.stem_table.assign([[0.5] * DIM])
    tokens = ragged([[0]] * 200)
    found = {round(float(one), 3) for one in np.arctanh(layer(tokens, training=True, stems=tokens))[:, 0]}
    assert found == {0, 0.25, 0.5, 0.75}


def test_gradient_of_a_step_with_word_dropout_holds_the_rows_that_are_left():
    layer = dropping(0.5, VOCABULARY_SIZE)
    with tf.GradientTape() as tape:
        vectors = layer(ragged([[row] for row in range(VOCABULARY_SIZE)]), training=True)
    slices = tape.gradient(vectors, layer.table)
    assert sorted(slices.indices.numpy()) == np.flatnonzero(vectors.numpy().any(axis=1)).tolist()


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_word_dropout_out_of_range_is_refused(share):
    with pytest.raises(ValueError, match=r"word_dropout must lie in \[0, 1\); got"):
        MeanEmbedding(VOCABULARY_SIZE, DIM, word_dropout=share)
