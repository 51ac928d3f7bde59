"""Keras 2 as `tf.keras`, for which the layers, TF-Ranking and TFX are written.

TensorFlow 2.15 brings it. Later ones bring Keras 3, and take Keras 2 from the package tf-keras where the environment
says so at the first use of `tf.keras`; processes that this one starts inherit the environment. `docs/design/runs.md`
says what Keras 3 would need.
"""

import os
import sys
from importlib.util import find_spec
from typing import Final

KERAS_2: Final = "tf-keras" if find_spec("tf_keras") else "keras"
"""The installed package that has Keras 2."""


def use_keras_2() -> None:
    """Makes `tf.keras` Keras 2, for the rest of the process and those that it starts.

    Raises:
      ImportError: this process has used `tf.keras` as Keras 3.
    """
    if KERAS_2 == "keras":
        return
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    keras = getattr(sys.modules.get("tensorflow"), "keras", None)
    if vars(keras or object).get("_tfll_keras_version") == "keras_3":
        raise ImportError(
            "tf.keras must be Keras 2 here, and this process has used it as Keras 3: import models or smooth_clir "
            "before the first use of tf.keras, or set TF_USE_LEGACY_KERAS=1 in the environment."
        )
