"""Presets: values for the settings that a configuration leaves out. This file does not import TensorFlow."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from models.encoders.settings import USE_LANGUAGES, USE_PACKAGE, EncoderSettings, use_multilingual_is_installed
from models.lexicon.settings import MatchingSettings
from models.losses.settings import LossSettings
from models.rankers.settings import ScorerSettings
from schemas.languages import codes_of
from schemas.settings import KindSettings, Settings, expand_kinds, section_classes

DEFAULT: Final = "best"
"""The preset of a configuration that names none."""
_SECTIONS: Final = {"channels", "embeddings", "loss", "training", "tuning", "evaluation"}
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


_TOWERS: Final = "channels.towers.kind"
_ENCODER: Final = "channels.towers.encoder.kind"
_LEXICON: Final = "channels.lexicon.kind"

_MEAN: Final = Condition("with the encoder mean", {_ENCODER: ["mean"]})
_TWO_TOWERS: Final = Condition("with the kind two_towers", {_TOWERS: ["two_towers"]})
_VECTORS: Final = {_TOWERS: [kind for kind, scorer in ScorerSettings.kinds.items() if scorer.indexed_by == "vectors"]}
_THRESHOLDS: Final = Condition(
    "with a loss that has thresholds",
    {"loss.kind": [kind for kind, loss in LossSettings.kinds.items() if "theta" in loss.model_fields], **_VECTORS},
)
"""Other scorers have no inner products, which give the scores of a batch's other documents."""
_DOT: Final = Condition("with the similarity dot", {"channels.towers.similarity": ["dot"]})
"""The scale of dot's scores is arbitrary, so the weight of the lexicon must be fitted."""
_WIDTH: Final = Condition(
    "without `embeddings`",
    {
        _TOWERS: [kind for kind, scorer in ScorerSettings.kinds.items() if "embedding_dim" in scorer.model_fields],
        "embeddings.query": [None],
        "embeddings.document": [None],
    },
)
"""A table of word vectors has its own width."""

_POLYNOMIAL: Final = Condition("with the encoder polynomial", {_ENCODER: ["polynomial"]})
_POLYNOMIAL_WITHOUT_TABLES: Final = Condition(
    f"{_POLYNOMIAL.words}, {_WIDTH.words}", {**_POLYNOMIAL.settings, **_WIDTH.settings}
)
_TRANSLATIONS: Final = Condition(
    "with the terms stems and the lexicon",
    {_ENCODER: ["polynomial"], "channels.towers.encoder.terms": ["stems"], _LEXICON: ["lexicon"]},
)

_MATCHING: Final = {_LEXICON: [*MatchingSettings.kinds]}
_SECOND_PASS: Final = Condition("with a `channels.lexicon` and a scorer of vectors", {**_MATCHING, **_VECTORS})
"""A second pass needs a channel of words that match, and a score that an index can search."""
_FITTED_SECOND_PASS: Final = Condition("where `feedback.gain` is fitted", {"feedback.gain": ["fitted"]})

_SUM: Final = Condition("with a `channels.lexicon`", _MATCHING)
_PRETRAINED: Final = Condition("with a pre-trained encoder", {"channels.encoder.kind": [*EncoderSettings.kinds]})
_HEAD: Final = Condition("with the kind encoder_head", {_TOWERS: ["encoder_head"]})

_USE: Final = Condition(
    f"with the package {USE_PACKAGE}, for two of its languages",
    {"data.query_language": USE_LANGUAGES, "data.document_language": USE_LANGUAGES},
    use_multilingual_is_installed,
)

_BEST: Final = {
    _LEXICON: PresetValue("lexicon"),
    "channels.lexicon.weight": PresetValue("fitted", _DOT),
    "channels.towers.weight": PresetValue("fitted", _SUM),
    "channels.towers.embedding_dim": PresetValue(128, _WIDTH),
    "channels.towers.encoder.stem_embeddings": PresetValue(True, _MEAN),
    "channels.towers.encoder.word_dropout": PresetValue(0.25, _MEAN),
    "loss.in_batch": PresetValue(True, _THRESHOLDS),
    "training.epochs": PresetValue(None, _MEAN),
    "training.learning_rate": PresetValue(0.02, _MEAN),
    "training.learning_rate_end": PresetValue(0.05, _MEAN),
    "training.negatives_from": PresetValue("judged"),
    "feedback.gain": PresetValue("fitted", _SECOND_PASS),
    "feedback.documents": PresetValue("fitted", _FITTED_SECOND_PASS),
}

PRESETS: Final[Mapping[str, Mapping[str, PresetValue]]] = {
    # A head's vectors are about 1 long, where the paper's epsilon would shrink cosines too much.
    "paper": {"channels.towers.epsilon": PresetValue(0.1, _HEAD)},
    "best": {"channels.encoder.kind": PresetValue("use_multilingual", _USE), **_BEST},
    # Towers that know all documents leave less to the matching words: the weight is fitted on the eval split.
    "closed": {
        _TOWERS: PresetValue("encoder_head", _PRETRAINED),
        **_BEST,
        "channels.towers.similarity": PresetValue("cosine", _HEAD),
        "loss.softmax_weight": PresetValue(0.02),
        "loss.softmax_temperature": PresetValue(0.05, _HEAD),
        "channels.lexicon.weight": PresetValue("fitted"),
        "channels.towers.weight": PresetValue(1.0),
    },
    "polynomial": {
        _LEXICON: PresetValue("lexicon"),
        "channels.lexicon.weight": PresetValue("fitted"),
        _ENCODER: PresetValue("polynomial", _TWO_TOWERS),
        "channels.towers.encoder.terms": PresetValue("stems", _POLYNOMIAL_WITHOUT_TABLES),
        "channels.towers.encoder.start": PresetValue("lexicon", _TRANSLATIONS),
        "channels.towers.embedding_dim": PresetValue(300, _POLYNOMIAL_WITHOUT_TABLES),
        "channels.towers.similarity": PresetValue("dot", _POLYNOMIAL),
        "loss.kind": PresetValue("pairwise_hinge", _POLYNOMIAL),
        "training.epochs": PresetValue(8, _POLYNOMIAL),
        "training.learning_rate": PresetValue(0.002, _POLYNOMIAL),
    },
    "cossim": {
        _TOWERS: PresetValue("cossim"),
        "loss.kind": PresetValue("worst_hinge"),
        "training.objective.kind": PresetValue("drawn"),
        "training.epochs": PresetValue(6),
    },
    "duet_distributed": {
        _TOWERS: PresetValue("duet_distributed"),
        "loss.kind": PresetValue("log_likelihood"),
        "training.objective.kind": PresetValue("drawn"),
        "training.epochs": PresetValue(None),
    },
}
"""Every preset by its name: dotted settings to their values that differ from the settings' own defaults."""


def with_preset(content: Mapping[str, Any], settings: type[Settings]) -> dict[str, Any]:
    """Adds the values of their preset to raw settings that lack them.

    Args:
      content: unchecked; a plain value that replaces a section stays. A null is a value like any other.
      settings: the class of the settings.

    Returns:
      the settings with every key of the preset, and `preset`. A second call changes nothing.

    Example:
      >>> from pipeline.config import RunConfig
      >>> with_preset({"preset": "closed", "channels": {"towers": {"encoder": "cnn"}}}, RunConfig)["channels"]["towers"]
      {'encoder': {'kind': 'cnn'}, 'weight': 1.0, 'embedding_dim': 128}
    """
    named = content.get("preset", DEFAULT)
    merged: dict[str, Any] = {**expand_kinds(settings, content), "preset": named}
    for name, (value, where) in (PRESETS.get(named, {}) if isinstance(named, str) else {}).items():
        if where is None or _holds(where, merged, settings):
            _fill(merged, name.split("."), value)
    return merged


def _fill(content: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    """Gives a setting its value if it has none; null sections, and plain values that replace a section, stay."""
    section, *below = keys
    if not below:
        content.setdefault(section, value)
        return
    inner = content.get(section, {})
    if isinstance(inner, Mapping):
        content[section] = dict(inner)
        _fill(content[section], below, value)


def changed_preset_fault(content: Mapping[str, Any], preset: Any) -> str | None:
    """Returns an error message if another preset would only change its own name, or None.

    Args:
      content: unchecked settings.
      preset: the name of another preset; unknown names are not reported here.
    """
    if content.get("preset") in (None, preset) or preset not in [*PRESETS] or not _is_resolved(content):
        return None
    return (
        "must not be changed in a resolved configuration, which sets every key of a preset, so that only the name "
        "would change; start from a configuration that leaves these keys out"
    )


def missing_preset_fault(content: Mapping[str, Any]) -> str | None:
    """Returns an error message for a resolved configuration that names no preset, or None."""
    if "preset" in content or not _is_resolved(content):
        return None
    presets = ", ".join(PRESETS)
    return f"must be given in a resolved configuration, because it decides the settings left out; known: {presets}."


def _is_resolved(content: Mapping[str, Any]) -> bool:
    """Whether settings were written by a run: with digests, and all sections."""
    data = content.get("data")
    digests = data.get("sha256") if isinstance(data, Mapping) else None
    return isinstance(digests, Mapping) and any(digests.values()) and _SECTIONS <= content.keys()


def _holds(condition: Condition, content: Mapping[str, Any], settings: type[Settings]) -> bool:
    if not all(_is_among(_value(key, content, settings), values) for key, values in condition.settings.items()):
        return False
    return condition.is_met() and (condition.is_met is _everywhere or not _is_resolved(content))


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    """Whether a value, or each of a list of languages, is among others."""
    codes = codes_of(value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return all(code in values for code in codes)


def _value(key: str, content: Mapping[str, Any], settings: type[Settings]) -> Any:
    """A setting's value, or its default; None if the kinds of its sections lack the setting."""
    name, *below = key.split(".")
    if name not in settings.model_fields:
        return None
    value = content.get(name, settings.model_fields[name].default)
    if not below:
        return value
    if isinstance(value, Settings):
        for below_name in below:
            value = getattr(value, below_name, None)
        return value
    for section in section_classes(settings.model_fields[name].annotation) if isinstance(value, Mapping) else ():
        kind = section.kind_of(value) if issubclass(section, KindSettings) and section.is_base() else section
        return _value(".".join(below), value, kind) if kind else None
    return None
