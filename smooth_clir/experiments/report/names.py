"""The names of settings and their values in a report: the paper's, where it has some."""

from collections.abc import Mapping
from typing import Any, Final

from models.choices import FIRST_PASS
from schemas.evaluation import RANDOM_ORDER
from smooth_clir.experiments.settings import CHANNEL, HELD_OUT, VARIANT

_SETTINGS: Final = {
    "loss.name": "loss function",
    "model.encoder": "encoder",
    "model.similarity": "similarity",
    "model.epsilon": "ε",
    "data.used_negatives": "NR documents",
    HELD_OUT: "held out",
    "adversary.weight": "w",
    "adversary.updates": "updates",
    "adversary.held_out_texts": "held-out texts",
    "training.seed": "seed",
    VARIANT: "variant",
}
_RANKERS: Final = {"cossim": "CosSim", "duet_distributed": "Duet-distributed"}
_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "loss.name": {"sosl": "SOSL", "three_part_l2": "3Part_L2", "mse": "MSE", "proportional_odds": "PO_S"},
    "model.encoder": {"mean": "Average Pooling", "cnn": "DSSM-CNN", "lstm": "DSSM-LSTM"},
    "model.similarity": {"smooth_cosine": "smooth cosine", "dot": "dot product"},
    "model.scorer": {"two_towers": "two towers", **_RANKERS},
    "preset": _RANKERS,
    CHANNEL: {"smooth_cosine": "smooth cosine", "dot": "dot product", FIRST_PASS: "first pass"},
}
"""The names of values, by their setting."""
_BASELINES: Final = {
    RANDOM_ORDER: "random order",
    "bm25": "BM25",
    "bm25_stems": "BM25 on stems",
    "translated_bm25": "BM25 of machine-translated queries",
    "translated_rm3": "RM3 of machine-translated queries",
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
_PLAIN: Final = (VARIANT, "loss.name", "model.encoder", "model.scorer", "model.similarity")
"""Settings whose values need no name before them."""


def setting_name(key: str) -> str:
    """A setting's name for a reader: the paper's, else the dotted key."""
    return _SETTINGS.get(key, key)


def value_name(value: Any, setting: str | None = None) -> str:
    """A value for a reader: the paper's name, if the setting has such names, else as YAML would have it.

    Example:
      >>> value_name("mse", "loss.name"), value_name([0.2, 0.7]), value_name({"filters": 100})
      ('MSE', '[0.2, 0.7]', 'filters 100')
      >>> value_name("mean", "model.encoder"), value_name("mean", "model.pooling")
      ('Average Pooling', 'mean')
      >>> value_name([], "data.held_out"), value_name(["news", "health"], "data.held_out")
      ('none', 'news, health')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value_name(part)}" for key, part in value.items())
    if setting == HELD_OUT:
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
      >>> settings_label({"model.scorer": "cossim", "data.held_out": ["news"], "adversary.weight": 0.25})
      'CosSim, held out = news, w = 0.25'
    """
    return ", ".join(
        value_name(value, key) if key in _PLAIN else f"{setting_name(key)} = {value_name(value, key)}"
        for key, value in settings.items()
    )
