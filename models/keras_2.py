"""Keras 2 as `tf.keras`, for which the layers, TF-Ranking and TFX are written.

TensorFlow 2.15 contains it. Later versions contain Keras 3, and use the package tf-keras instead if the environment
asks for it before the first use of `tf.keras`; child processes inherit the environment. `docs/design/runs.md` says what
Keras 3 would need.
"""

import os
import sys
from importlib.util import find_spec
from typing import Final

KERAS_2: Final = "tf-keras" if find_spec("tf_keras") else "keras"
"""The installed package that has Keras 2."""


def use_keras_2() -> None:
    """Makes `tf.keras` Keras 2 for the rest of the process and its child processes.

    Raises:
      ImportError: this process has already used `tf.keras` as Keras 3.
    """
    if KERAS_2 == "keras":
        return
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    keras = getattr(sys.modules.get("tensorflow"), "keras", None)
    if vars(keras or object).get("_tfll_keras_version") == "keras_3":
        raise ImportError(
            "this process has used tf.keras as Keras 3, and Smooth CLIR needs Keras 2: import models or smooth_clir "
            "before the first use of tf.keras, or set TF_USE_LEGACY_KERAS=1 in the environment."
        )
