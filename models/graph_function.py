"""The one way in which Python becomes a graph here."""

from functools import partial
from typing import Any, Final

import tensorflow as tf

graph_function: Final[Any] = partial(tf.function, autograph=False, reduce_retracing=True)
"""`tf.function` without AutoGraph, which rewrites the source of all that a function calls, Keras layers among it, and
takes a third of the time of tracing: a condition or loop on tensors is written as `tf.where`, `tf.cond` or
`tf.while_loop`. What stands in many graphs is a function of its own, traced once for all of them, and for inputs of any
length."""
