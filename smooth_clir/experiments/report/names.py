"""Names settings and their values in a report, by the paper's names if it has any."""

from collections.abc import Mapping
from typing import Any, Final

from models.choices import FIRST_PASS
from schemas.evaluation import RANDOM_ORDER
from smooth_clir.experiments.settings import CHANNEL, HELD_OUT, VARIANT

_SETTINGS: Final = {
    "loss": "loss function",
    "channels.towers.encoder": "encoder",
    "channels.towers.similarity": "similarity",
    "channels.towers.epsilon": "ε",
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
    "loss": {"sosl": "SOSL", "three_part_l2": "3Part_L2", "mse": "MSE", "proportional_odds": "PO_S"},
    "channels.towers.encoder": {"mean": "Average Pooling", "cnn": "DSSM-CNN", "lstm": "DSSM-LSTM"},
    "channels.towers.similarity": {"smooth_cosine": "smooth cosine", "dot": "dot product"},
    "channels.towers": {"two_towers": "two towers", **_RANKERS},
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
_PLAIN: Final = (VARIANT, "loss", "channels.towers", "channels.towers.encoder", "channels.towers.similarity")
"""Settings whose values need no name before them."""


def _section(key: str) -> str:
    """Returns the section whose kind a setting is, else the setting."""
    return key.removesuffix(".kind")


def setting_name(key: str) -> str:
    """Returns a setting's name for a reader: the paper's, else the dotted key."""
    return _SETTINGS.get(_section(key), key)


def value_name(value: Any, setting: str | None = None) -> str:
    """Returns a value for a reader: the paper's name, if the setting has such names, else as in YAML.

    Example:
      >>> value_name("mse", "loss.kind"), value_name([0.2, 0.7]), value_name({"filters": 100})
      ('MSE', '[0.2, 0.7]', 'filters 100')
      >>> value_name("mean", "channels.towers.encoder"), value_name("mean", "channels.towers.encoder.pooling")
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
    return f"{value:g}" if isinstance(value, float) else _VALUES.get(_section(setting or ""), {}).get(value, str(value))


def baseline_name(name: str) -> str:
    return _BASELINES.get(name, name)


def settings_label(settings: Mapping[str, Any]) -> str:
    """Returns the label of settings.

    Example:
      >>> settings_label({"loss": "mse", "channels.towers.epsilon": 0.5})
      'MSE, ε = 0.5'
      >>> settings_label({"channels.towers": "cossim", "data.held_out": ["news"], "adversary.weight": 0.25})
      'CosSim, held out = news, w = 0.25'
    """
    return ", ".join(
        value_name(value, key) if _section(key) in _PLAIN else f"{setting_name(key)} = {value_name(value, key)}"
        for key, value in settings.items()
    )
