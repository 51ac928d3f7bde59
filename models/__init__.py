"""Tensors: tokens, layers, losses, metrics, the ranker, its training and its export."""

from models.keras_2 import use_keras_2

use_keras_2()
