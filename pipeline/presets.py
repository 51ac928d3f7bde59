"""Presets: values for the settings that a configuration leaves out. This file does not import TensorFlow."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from models.choices import LEXICON_KINDS, SCORERS
from models.encoders.settings import USE_LANGUAGES, USE_PACKAGE, use_multilingual_is_installed
from models.losses.declarations import LOSSES
from schemas.settings import Settings

DEFAULT: Final = "best"
"""The preset of a configuration that names none."""
_SECTIONS: Final = {"model", "embeddings", "loss", "training", "tuning", "evaluation"}
"""Sections of every resolved configuration."""


def _everywhere() -> bool:
    return True


class Condition(NamedTuple):
    """When a preset's value applies. The settings named here must come earlier in the preset."""

    words: str
    settings: Mapping[str, Sequence[Any]]
    """Dotted settings to the values that each may have."""
    is_met: Callable[[], bool] = _everywhere
    """A condition on the machine; never met by a resolved configuration, which must not depend on the machine."""


class PresetValue(NamedTuple):
    """A setting's value in a preset; where the condition does not hold, the setting keeps its own default."""

    value: Any
    where: Condition | None = None


_MEAN: Final = Condition("with the encoder mean", {"model.scorer": ["two_towers"], "model.encoder": ["mean"]})
_VECTORS: Final = {
    "model.scorer": [name for name, declaration in SCORERS.items() if declaration.indexed_by == "vectors"]
}
_THRESHOLDS: Final = Condition(
    "with a loss that has thresholds",
    {"loss.name": [name for name, declaration in LOSSES.items() if declaration.default_theta], **_VECTORS},
)
"""Other scorers give no inner products, and so no scores of a batch's other documents."""
_DOT: Final = Condition("with the similarity dot", {"model.similarity": ["dot"]})
"""The scores of dot have no scale of their own, and the weight of the lexicon beside them must be fitted."""
_NO_TABLES: Final = Condition("without `embeddings`", {"embeddings.query": [None], "embeddings.document": [None]})
"""A table of word vectors has its own width."""

_POLYNOMIAL: Final = Condition("with the encoder polynomial", {"model.encoder": ["polynomial"]})
_POLYNOMIAL_WITHOUT_TABLES: Final = Condition(
    f"{_POLYNOMIAL.words}, {_NO_TABLES.words}", {**_POLYNOMIAL.settings, **_NO_TABLES.settings}
)
_TRANSLATIONS: Final = Condition(
    "with the terms stems and the lexicon",
    {"model.encoder": ["polynomial"], "model.terms": ["stems"], "lexicon.kind": ["lexicon"]},
)

_SECOND_PASS: Final = Condition(
    "with a `lexicon.kind` and a scorer of vectors", {"lexicon.kind": LEXICON_KINDS, **_VECTORS}
)
"""A second pass needs a channel of words that match, and a score that an index can search."""
_FITTED_SECOND_PASS: Final = Condition("where `feedback.gain` is fitted", {"feedback.gain": ["fitted"]})

_ENCODER: Final = Condition(
    "with a pre-trained encoder", {"encoder.kind": ["saved_model", "use_multilingual", "endpoint", "vectors"]}
)
_HEAD: Final = Condition("with `encoder.head` linear", {"encoder.head": ["linear"]})

_USE: Final = Condition(
    f"with the package {USE_PACKAGE}, for two of its languages",
    {"data.query_language": USE_LANGUAGES, "data.document_language": USE_LANGUAGES},
    use_multilingual_is_installed,
)

_BEST: Final = {
    "model.scorer": PresetValue("encoder_head", _HEAD),
    "lexicon.kind": PresetValue("lexicon"),
    "lexicon.weight": PresetValue("fitted", _DOT),
    "model.embedding_dim": PresetValue(128, _NO_TABLES),
    "model.stem_embeddings": PresetValue(True, _MEAN),
    "model.word_dropout": PresetValue(0.25, _MEAN),
    "loss.in_batch": PresetValue(True, _THRESHOLDS),
    "training.epochs": PresetValue(None, _MEAN),
    "training.learning_rate": PresetValue(0.02, _MEAN),
    "training.learning_rate_end": PresetValue(0.05, _MEAN),
    "training.negatives_from": PresetValue("judged"),
    "feedback.gain": PresetValue("fitted", _SECOND_PASS),
    "feedback.documents": PresetValue("fitted", _FITTED_SECOND_PASS),
}

PRESETS: Final[Mapping[str, Mapping[str, PresetValue]]] = {
    # A head's vectors have about length 1, beside which the paper's epsilon would leave little of a cosine.
    "paper": {"model.scorer": PresetValue("encoder_head", _HEAD), "model.epsilon": PresetValue(0.1, _HEAD)},
    "best": {"encoder.kind": PresetValue("use_multilingual", _USE), **_BEST},
    # Towers that know all documents leave less to the matching words: the weight is fitted on the eval split.
    "closed": {
        "encoder.head": PresetValue("linear", _ENCODER),
        **_BEST,
        "model.similarity": PresetValue("cosine", _HEAD),
        "loss.softmax_weight": PresetValue(0.02),
        "loss.softmax_temperature": PresetValue(0.05, _HEAD),
        "lexicon.weight": PresetValue("fitted"),
    },
    "polynomial": {
        "lexicon.kind": PresetValue("lexicon"),
        "lexicon.weight": PresetValue("fitted"),
        "model.encoder": PresetValue("polynomial"),
        "model.terms": PresetValue("stems", _POLYNOMIAL_WITHOUT_TABLES),
        "model.start": PresetValue("lexicon", _TRANSLATIONS),
        "model.embedding_dim": PresetValue(300, _POLYNOMIAL_WITHOUT_TABLES),
        "model.similarity": PresetValue("dot", _POLYNOMIAL),
        "loss.name": PresetValue("pairwise_hinge", _POLYNOMIAL),
        "training.epochs": PresetValue(8, _POLYNOMIAL),
        "training.learning_rate": PresetValue(0.002, _POLYNOMIAL),
    },
    "cossim": {
        "model.scorer": PresetValue("cossim"),
        "loss.name": PresetValue("worst_hinge"),
        "training.objective": PresetValue("drawn"),
        "training.epochs": PresetValue(6),
    },
    "duet_distributed": {
        "model.scorer": PresetValue("duet_distributed"),
        "loss.name": PresetValue("log_likelihood"),
        "training.objective": PresetValue("drawn"),
        "training.epochs": PresetValue(None),
    },
}
"""Every preset by its name: dotted settings to their values that differ from the settings' own defaults."""


def with_preset(content: Mapping[str, Any], settings: type[Settings]) -> dict[str, Any]:
    """Raw settings with the values of their preset for settings that they do not give.

    Args:
      content: unchecked; a value in the place of a section stays as it is. A null is a value like any other.
      settings: the class of the settings.

    Returns:
      the settings with every key of the preset, and `preset`. A second call changes nothing.

    Example:
      >>> from pipeline.config import RunConfig
      >>> with_preset({"preset": "closed", "model": {"encoder": "cnn"}}, RunConfig)["model"]
      {'embedding_dim': 128, 'encoder': 'cnn'}
    """
    named = content.get("preset", DEFAULT)
    merged: dict[str, Any] = {**content, "preset": named}
    for key, (value, where) in (PRESETS.get(named, {}) if isinstance(named, str) else {}).items():
        section, _, name = key.partition(".")
        values = merged.get(section, {})
        if isinstance(values, Mapping) and (where is None or _holds(where, merged, settings)):
            merged[section] = {name: value, **values}
    return merged


def fault_of_another_preset(content: Mapping[str, Any], preset: Any) -> str | None:
    """Returns an error message where another preset would change nothing but its name, or None.

    Args:
      content: unchecked.
      preset: the name of another preset; other values are no fault here.
    """
    keys = {key.partition(".")[::2] for preset_values in PRESETS.values() for key in preset_values}
    sections = {section: content.get(section) for section, _ in keys}
    if preset == content.get("preset") or preset not in [*PRESETS]:
        return None
    if not all(isinstance(values := sections[section], Mapping) and name in values for section, name in keys):
        return None
    return (
        "must stay as it is where the file gives every key that presets decide, as a resolved configuration does: only "
        f"the name would change; leave out the keys that {preset} decides"
    )


def fault_of_no_preset(content: Mapping[str, Any]) -> str | None:
    """Returns an error message for a resolved configuration that names no preset, or None."""
    if "preset" in content or not _is_resolved(content):
        return None
    return f"must be given in a resolved configuration, for it decides what the file leaves out: {', '.join(PRESETS)}."


def _is_resolved(content: Mapping[str, Any]) -> bool:
    """Whether settings are those that a run has written: with digests, and all sections."""
    data = content.get("data")
    digests = data.get("sha256") if isinstance(data, Mapping) else None
    return isinstance(digests, Mapping) and any(digests.values()) and _SECTIONS <= content.keys()


def _holds(condition: Condition, content: Mapping[str, Any], settings: type[Settings]) -> bool:
    if not all(_value(key, content, settings) in values for key, values in condition.settings.items()):
        return False
    return condition.is_met() and (condition.is_met is _everywhere or not _is_resolved(content))


def _value(key: str, content: Mapping[str, Any], settings: type[Settings]) -> Any:
    """A setting's value, or its default where the settings give none."""
    section, _, name = key.partition(".")
    default = settings.model_fields[section].default
    values = content.get(section, default)
    if isinstance(values, Mapping):
        return values.get(name, getattr(default, name, None))
    return getattr(values, name, None)
