"""The laws of every layer and every loss: a new one adds one line to `CASES`."""

import importlib
import inspect
import pkgutil
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import keras

import models.layers
import models.losses
from models.layers.cnn_encoder import CnnEncoder
from models.layers.domain_discriminator import DomainDiscriminator
from models.layers.dot_product import DotProduct
from models.layers.gradient_reversal import GradientReversal
from models.layers.lstm_encoder import LstmEncoder
from models.layers.mean_embedding import MeanEmbedding
from models.layers.polynomial_embedding import PolynomialEmbedding
from models.layers.smooth_cosine import SmoothCosine
from models.layers.word_embeddings import WordEmbeddings
from models.losses.log_likelihood import LogLikelihoodLoss
from models.losses.mse import MeanSquaredErrorLoss
from models.losses.proportional_odds import ProportionalOddsLoss
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.losses.tf_ranking import ApproxNdcgLoss, PairwiseHingeLoss, SoftmaxLoss
from models.losses.three_part_l2 import ThreePartL2Loss
from models.losses.worst_hinge import WorstHingeLoss

pytestmark = pytest.mark.tensors

GRADES = tf.constant([[2.0, 0.0, -1.0], [-1.0, -1.0, -1.0], *[[2.0, 1.0, 0.0]] * 4])
SCORES = tf.constant([[0.1, 0.9, 1.0], [0.9, 0.0, -0.9], *[[n, -n, n] for n in (1.0, -1.0, 1e4, -1e4)]])
TEXTS = tf.RaggedTensor.from_row_lengths(tf.constant([1, 3, 3]), [3, 0])


class Case(NamedTuple):
    """A class, the arguments that make an object of it, and what to call the object with: edges among them."""

    subject: type
    config: dict[str, Any]
    inputs: tuple[Any, ...]

    def make(self):
        return self.subject(**self.config)


VECTORS = (tf.constant([[3.0, 4.0], [0.0, 0.0]]), tf.ones([2, 3, 2]))
WORDS = {"vocabulary_size": 5, "dim": 2, "seed": 1}
BANDS = {"theta": (0.2, 0.7), "reduction": "none"}
LISTS = (GRADES, SCORES)
CASES = [
    Case(SmoothCosine, {"epsilon": 0.5}, VECTORS),
    Case(SmoothCosine, {"epsilon": 0.0}, (tf.constant([[1e-30, 0.0], [0.0, 0.0]]), tf.zeros([2, 3, 2]))),
    Case(DotProduct, {"dim": 2}, VECTORS),
    Case(GradientReversal, {}, VECTORS[:1]),
    Case(DomainDiscriminator, {"domains": 3, "hidden": 4, "seed": 1}, VECTORS[:1]),
    Case(WordEmbeddings, WORDS | {"dropout": 0.4}, (TEXTS,)),
    Case(MeanEmbedding, WORDS, (TEXTS,)),
    Case(MeanEmbedding, WORDS | {"word_dropout": 0.3, "stem_vocabulary_size": 4}, (TEXTS, False, TEXTS)),
    Case(MeanEmbedding, WORDS | {"stem_vocabulary_size": 4, "pooling": "idf"}, (TEXTS, False, TEXTS)),
    Case(PolynomialEmbedding, WORDS, (TEXTS,)),
    Case(PolynomialEmbedding, WORDS | {"degree": 3}, (TEXTS,)),
    Case(CnnEncoder, WORDS | {"dropout": 0.4, "filters": 3}, (TEXTS,)),
    Case(LstmEncoder, WORDS | {"dropout": 0.4, "units": 3}, (TEXTS,)),
    Case(SmoothOrdinalSearchLoss, BANDS, LISTS),
    Case(SmoothOrdinalSearchLoss, BANDS | {"learn_theta": True}, LISTS),
    Case(MeanSquaredErrorLoss, BANDS | {"ends": (0.0, 3.0)}, LISTS),
    Case(ProportionalOddsLoss, BANDS, LISTS),
    Case(ProportionalOddsLoss, BANDS | {"learn_theta": True}, LISTS),
    Case(ProportionalOddsLoss, BANDS | {"ends": (0.0, 3.0), "learn_theta": True}, LISTS),
    Case(ThreePartL2Loss, {"theta": (0.1, 0.5, 0.8), "reduction": "none"}, LISTS),
    *(Case(loss, {"reduction": "none"}, LISTS) for loss in (SoftmaxLoss, ApproxNdcgLoss, PairwiseHingeLoss)),
    Case(WorstHingeLoss, {"margin": 0.3, "reduction": "none"}, LISTS),
    Case(LogLikelihoodLoss, {"reduction": "none"}, LISTS),
]


def name_of(case):
    return case.subject.__name__


every_case = pytest.mark.parametrize("case", CASES, ids=name_of)


class Problem:
    """An object with its inputs in variables, so that a step can move these and its weights."""

    def __init__(self, case):
        self.subject = case.make()
        self.inputs = [tf.Variable(value) if isinstance(value, tf.Tensor) else value for value in case.inputs]
        self.subject(*self.inputs)
        self.variables = [value for value in self.inputs if isinstance(value, tf.Variable)]
        self.variables += getattr(self.subject, "trainable_variables", [])

    def gradients(self, rows=slice(None)):
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(self.subject(*self.inputs)[rows])
        return tape.gradient(value, self.variables, unconnected_gradients="zero")

    @classmethod
    def after_a_step(cls, case, strategy, learning_rate):
        """The values of the variables after a step on each replica."""
        with strategy.scope():
            problem, optimizer = cls(case), keras.optimizers.SGD(learning_rate)
        strategy.run(lambda: optimizer.apply_gradients(zip(problem.gradients(), problem.variables, strict=True)))
        return [variable.numpy() for variable in problem.variables]


def test_no_layer_and_no_loss_is_left_out():
    public = {
        member
        for package in (models.layers, models.losses)
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        for name, member in vars(importlib.import_module(module.name)).items()
        if isinstance(member, type) and issubclass(member, (keras.layers.Layer, keras.losses.Loss))
        if member.__module__ == module.name and not name.startswith("_")
        if not inspect.isabstract(member)
    }
    assert public == {case.subject for case in CASES}


@every_case
def test_gradient_is_finite(case):
    gradients = Problem(case).gradients()
    assert gradients
    assert all(np.isfinite(tf.convert_to_tensor(gradient)).all() for gradient in gradients)


@pytest.mark.parametrize("case", [case for case in CASES if issubclass(case.subject, keras.losses.Loss)], ids=name_of)
def test_a_list_of_padding_alone_has_loss_zero_and_gradient_zero(case):
    problem = Problem(case)
    assert problem.subject(*problem.inputs)[1] == 0
    assert not any(np.any(gradient) for gradient in problem.gradients(rows=1))


@every_case
def test_config_makes_the_same_again(case):
    subject = case.make()
    kind = keras.layers if isinstance(subject, keras.layers.Layer) else keras.losses
    again = kind.deserialize(kind.serialize(subject))
    assert type(again) is case.subject
    assert again.get_config() == subject.get_config()
    np.testing.assert_array_equal(again(*case.inputs), subject(*case.inputs))


@pytest.mark.stages
@every_case
def test_step_on_two_replicas_takes_the_gradients_of_both(case, two_replicas):
    on_two = Problem.after_a_step(case, two_replicas, learning_rate=0.1)
    plain = Problem.after_a_step(case, tf.distribute.OneDeviceStrategy("/cpu:0"), learning_rate=0.2)
    for mirrored, single in zip(on_two, plain, strict=True):
        np.testing.assert_allclose(mirrored, single, rtol=1e-6)


def tensors_of(case):
    return [value for value in case.inputs if value is not False]


def spec_of(value, is_loss):
    """The type of an input with any number of rows, and of documents in a list."""
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensorSpec([None, None], value.dtype, ragged_rank=1)
    return tf.TensorSpec([None] * (value.shape.rank - 1) + [None if is_loss else value.shape[-1]], value.dtype)


def graph_of(case, subject):
    """A function of the inputs that are tensors."""

    def call(*tensors):
        left = iter(tensors)
        return subject(*(value if value is False else next(left) for value in case.inputs))

    is_loss = isinstance(subject, keras.losses.Loss)
    return tf.function(call, input_signature=[spec_of(value, is_loss) for value in tensors_of(case)])


@pytest.mark.stages
def test_a_saved_model_computes_the_same_for_lists_of_any_length(tmp_path):  # 5 s: it traces a graph of each
    module, subjects = tf.Module(), [case.make() for case in CASES]
    expected = [subject(*case.inputs).numpy() for case, subject in zip(CASES, subjects, strict=True)]
    # The layers themselves would be traced once more, as Keras saves them.
    module.weights = [
        getattr(subject, "weights", None) or getattr(subject, "trainable_variables", []) for subject in subjects
    ]
    module.calls = [graph_of(case, subject) for case, subject in zip(CASES, subjects, strict=True)]
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for case, call, values in zip(CASES, loaded.calls, expected, strict=True):
        np.testing.assert_allclose(call(*tensors_of(case)), values, rtol=1e-6, atol=1e-7, err_msg=name_of(case))
