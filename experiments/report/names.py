"""The names of settings and their values in a report: the paper's, where it has some."""

from collections.abc import Mapping
from typing import Any, Final

from experiments.settings import VARIANT
from schemas.evaluation import RANDOM_ORDER

_HELD_OUT: Final = "data.held_out"
_SETTINGS: Final = {
    "loss.name": "loss function",
    "model.encoder": "encoder",
    "model.similarity": "similarity",
    "model.epsilon": "ε",
    "data.used_negatives": "NR documents",
    _HELD_OUT: "held out",
    "training.seed": "seed",
    VARIANT: "variant",
}
_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "loss.name": {"sosl": "SOSL", "three_part_l2": "3Part_L2", "mse": "MSE", "proportional_odds": "PO_S"},
    "model.encoder": {"mean": "Average Pooling", "cnn": "DSSM-CNN", "lstm": "DSSM-LSTM"},
    "model.similarity": {"smooth_cosine": "smooth cosine", "dot": "dot product"},
}
"""The names of values, by the setting that they are of."""
_BASELINES: Final = {
    RANDOM_ORDER: "random order",
    "bm25": "BM25",
    "paper": "the paper's system",
    "tfidf": "tf-idf",
    "translated": "tf-idf of translated queries",
    "query_expansion": "query expansion",
    "lsi": "LSI",
    "lsi_mixed": "LSI with tf-idf",
    "cl_lsi": "CL-LSI",
    "cl_lsi_mixed": "CL-LSI with tf-idf",
    "perceptron": "perceptron",
    "hash_kernel": "hash kernel",
    "structured_queries": "lexicon alone",
    "cl_lsi_lexicon": "CL-LSI with the lexicon",
}
_PLAIN: Final = (VARIANT, "loss.name", "model.encoder", "model.similarity")
"""Settings whose values need no name before them."""


def setting_name(key: str) -> str:
    """A setting's name for a reader: the paper's, else the dotted key."""
    return _SETTINGS.get(key, key)


def value_name(value: Any, setting: str | None = None) -> str:
    """A value for a reader: the paper's name, if it is of a setting with such names, else as YAML would have it.

    Example:
      >>> value_name("mse", "loss.name"), value_name([0.2, 0.7]), value_name({"filters": 100})
      ('MSE', '[0.2, 0.7]', 'filters 100')
      >>> value_name("mean", "model.encoder"), value_name("mean", "model.pooling")
      ('Average Pooling', 'mean')
      >>> value_name([], "data.held_out"), value_name(["news", "health"], "data.held_out")
      ('none', 'news, health')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value_name(one)}" for key, one in value.items())
    if setting == _HELD_OUT:
        return ", ".join(value) or "none"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_name, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, float) else _VALUES.get(setting or "", {}).get(value, str(value))


def baseline_name(name: str) -> str:
    """A baseline's name for a reader."""
    return _BASELINES.get(name, name)


def settings_label(settings: Mapping[str, Any]) -> str:
    """The label of some settings.

    Example:
      >>> settings_label({"loss.name": "mse", "model.epsilon": 0.5})
      'MSE, ε = 0.5'
    """
    return ", ".join(
        value_name(value, key) if key in _PLAIN else f"{setting_name(key)} = {value_name(value, key)}"
        for key, value in settings.items()
    )
