"""The laws of every encoder: it follows its formula, sees each text alone, and drops words' components in training."""

import numpy as np
import pytest
import tensorflow as tf

from models.layers.cnn_encoder import CnnEncoder
from models.layers.lstm_encoder import LstmEncoder
from models.layers.mean_embedding import MeanEmbedding
from models.layers.polynomial_embedding import PolynomialEmbedding
from models.layers.settings import TextEncoderSettings
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import make_encoder
from tests import reference

pytestmark = pytest.mark.tensors

VOCABULARY_SIZE, DIM = 9, 4
LAYERS = {
    "mean": (MeanEmbedding, {}),
    "cnn": (CnnEncoder, {"filters": 5}),
    "lstm": (LstmEncoder, {"units": 3}),
    "polynomial": (PolynomialEmbedding, {"degree": 3}),
}
TEXTS = [[2, 5], [], [7], [1, 1, 3, 0, 1], [8, 2, 4], [5, 2]]
IS_EMPTY = [not text for text in TEXTS]


def ragged(tokens):
    return tf.ragged.constant(tokens, tf.int32, ragged_rank=1)


class Encoder:
    """A small encoder, built, and its formula."""

    def __init__(self, name, seed=1, **values):
        layer, sizes = LAYERS[name]
        self.formula = reference.ENCODERS[name]
        self.layer = layer(VOCABULARY_SIZE, DIM, initial_scale=1.0, seed=seed, **sizes, **values)
        self.layer.build(None)

    def __call__(self, tokens, training=False):
        return self.layer(ragged(tokens), training=training).numpy()

    def gradients(self, tokens, weight=1.0):
        """Gradients of the sum of the weighted components of all vectors."""
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(self.layer(ragged(tokens)) * weight)
        return tape.gradient(value, self.layer.trainable_variables)


@pytest.fixture(scope="module", params=LAYERS)
def encoder(request):
    return Encoder(request.param)


def test_every_encoder_of_a_configuration_is_tested_here_and_made_by_its_name():
    assert set(LAYERS) == set(TextEncoderSettings.kinds)
    for name, (layer, _) in LAYERS.items():
        settings = TwoTowersSettings.with_encoder(name, embedding_dim=DIM)
        made = make_encoder(settings, Words(VOCABULARY_SIZE), seed=1, name="tower")
        assert type(made) is layer
        assert (made.dim, made.dropout, made.name) == (DIM, settings.encoder.dropout, "tower")


def test_vectors_and_gradients_are_those_of_the_reference(encoder):
    weights = [array.astype(np.float64) for array in encoder.layer.get_weights()]
    expected = [encoder.formula(*weights, text) for text in TEXTS]
    np.testing.assert_allclose(encoder(TEXTS), expected, rtol=1e-5, atol=1e-6)
    factors = np.random.default_rng(3).normal(size=(len(TEXTS), DIM))
    for row, gradient in enumerate(encoder.gradients(TEXTS, factors)):

        def value(array, row=row):
            changed = [*weights[:row], array, *weights[row + 1 :]]
            return np.sum(factors * [encoder.formula(*changed, text) for text in TEXTS])

        slopes = reference.slopes(value, weights[row])
        np.testing.assert_allclose(tf.convert_to_tensor(gradient), slopes, rtol=1e-5, atol=1e-5 * np.abs(slopes).max())


def test_padding_and_the_other_texts_of_a_batch_do_not_change_a_vector(encoder):
    longer = [[3] * 12, *TEXTS[::-1], [4] * 9]
    np.testing.assert_allclose(encoder(longer)[1:-1], encoder(TEXTS)[::-1], atol=1e-6)


@pytest.mark.parametrize("tokens", [[[], []], [[], [4], [], [1, 1]]])
def test_text_without_tokens_has_the_zero_vector_and_finite_gradients(encoder, tokens):
    empty = [not text for text in tokens]
    vectors = encoder(tokens)
    assert not vectors[empty].any()
    assert vectors[np.logical_not(empty)].all()
    assert all(np.isfinite(tf.convert_to_tensor(gradient)).all() for gradient in encoder.gradients(tokens))


def test_no_texts_have_no_vectors(encoder):
    assert encoder([]).shape == (0, DIM)


def test_lstm_of_a_machine_with_a_gpu_has_the_same_vectors(monkeypatch):
    plain = Encoder("lstm")
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: [kind])
    gpu_encoder = Encoder("lstm")
    assert type(gpu_encoder.layer.lstm.forward_layer) is not type(plain.layer.lstm.forward_layer)
    np.testing.assert_allclose(gpu_encoder(TEXTS), plain(TEXTS), atol=1e-6)


def test_gradient_of_the_table_holds_the_rows_that_occur_and_no_others(encoder):
    table = encoder.gradients(TEXTS)[0]
    assert isinstance(table, tf.IndexedSlices)
    assert set(table.indices.numpy()) == {token for text in TEXTS for token in text}


def test_the_mean_alone_is_a_sum_over_words(encoder):
    parts = encoder.layer.word_parts(ragged([[2], [5]]))
    assert (parts is None) == (type(encoder.layer) is not MeanEmbedding)


def test_the_seed_alone_decides_the_weights_and_no_two_of_them_are_alike(encoder):
    config, weights = encoder.layer.get_config(), encoder.layer.get_weights()
    same, reseeded = (type(encoder.layer).from_config(config | {"seed": config["seed"] + more}) for more in (0, 1))
    for layer in (same, reseeded):
        layer.build(None)
    assert all(map(np.array_equal, same.get_weights(), weights))
    random = [array.ravel()[:9] for array in weights if len(np.unique(array)) > 2]  # no biases
    assert len(np.unique(np.concatenate(random))) == sum(map(len, random))
    for array, reseeded_array in zip(weights, reseeded.get_weights(), strict=True):
        assert not np.array_equal(array, reseeded_array) or array.ndim == 1  # biases start alike


# Dropout


@pytest.mark.parametrize(("name", "share"), [*((name, "dropout") for name in LAYERS), ("mean", "word_dropout")])
def test_dropout_acts_in_training_alone_and_otherwise_in_every_step(name, share):
    encoder, again = (Encoder(name, **{share: 0.4}) for _ in range(2))
    vectors = encoder(TEXTS)
    np.testing.assert_array_equal(vectors, Encoder(name)(TEXTS))
    steps = [encoder(TEXTS, training=True) for _ in range(2)]
    assert len({step.tobytes() for step in [*steps, vectors]}) == 3
    np.testing.assert_array_equal([again(TEXTS, training=True) for _ in range(2)], steps)
    assert not any(step[IS_EMPTY].any() for step in steps)


def test_dropout_leaves_out_its_share_and_keeps_the_mean():
    layer = MeanEmbedding(1, 50, dropout=0.3, seed=1)
    layer.build(None)
    layer.table.assign(tf.ones([1, 50]))
    words = np.arctanh(layer(ragged([[0]] * 400), training=True))
    np.testing.assert_allclose(words[words > 0], 1 / (1 - 0.3), rtol=1e-5)
    error = np.sqrt(0.3 * 0.7 / words.size)
    assert np.mean(words == 0) == pytest.approx(0.3, abs=4 * error)
    assert words.mean() == pytest.approx(1, abs=4 * error / (1 - 0.3))
    assert np.unique(words, axis=0).shape[0] == len(words)  # every word has a mask of its own


@pytest.mark.parametrize("share", ["dropout", "word_dropout"])
@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_a_share_out_of_range_is_refused(share, value):
    with pytest.raises(ValueError, match=rf"{share} .*\[0, 1\); got {value}"):
        MeanEmbedding(VOCABULARY_SIZE, DIM, **{share: value})
