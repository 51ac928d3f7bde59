"""Former names of settings; each is refused with a message that gives the new name."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pipeline.settings_file import Locations, location_of

_TOWERS, _ENCODER = "channels.towers", "channels.towers.encoder"

RENAMED: Final[Mapping[str, str]] = {
    "model.scorer": f"{_TOWERS}.kind",
    "model.scorer_settings": f"as settings of {_TOWERS} itself",
    "model.encoder": f"{_ENCODER}.kind",
    "model.encoder_settings": f"as settings of {_ENCODER} itself",
    **{
        f"model.{name}": f"{_ENCODER}.{name}"
        for name in ("terms", "pooling", "start", "initial_scale", "dropout", "word_dropout", "stem_embeddings")
    },
    **{f"model.{name}": f"{_TOWERS}.{name}" for name in ("embedding_dim", "similarity", "epsilon")},
    "model.vocabulary_size": "data.vocabulary_size",
    "lexicon.kind": "channels.lexicon.kind (`channels.lexicon: null` for none)",
    "lexicon": "channels.lexicon",
    "encoder.kind": "channels.encoder.kind (`channels.encoder: null` for none)",
    "encoder.head": f"`{_TOWERS}: encoder_head` (nothing for none)",
    "encoder": "channels.encoder",
    "loss.name": "loss.kind",
    "loss.settings": "as settings of loss itself",
    "training.objective_settings": "as settings of training.objective itself",
}
"""Former dotted settings, or sections, to their replacements."""
GONE: Final[Mapping[str, str]] = {
    "training.optimizer": "there is one optimizer, lazy_adam",
    "training.optimizer_settings": "the optimizer has none",
}
"""Former dotted settings without a successor, to the reason."""


def renamed_in(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields the keys of each former setting in raw settings, with what to write in its place.

    Example:
      >>> list(renamed_in({"model": {"scorer": "cossim"}, "lexicon": {"weight": 1}}))  # doctest: +NORMALIZE_WHITESPACE
      [(('model', 'scorer'), 'is written channels.towers.kind now.'),
       (('lexicon', 'weight'), 'is written channels.lexicon.weight now.')]
    """
    for section, values in content.items():
        for name in values if isinstance(values, Mapping) else ():
            key = f"{section}.{name}"
            replacement = RENAMED.get(key) or (section in RENAMED and f"{RENAMED[section]}.{name}")
            if replacement:
                yield (section, str(name)), f"is written {replacement} now."
            if key in GONE:
                yield (section, str(name)), f"is no longer a setting: {GONE[key]}."
        if section == "channels" and isinstance(values, Mapping):
            for name, channel in values.items():
                if isinstance(channel, Mapping) and "settings" in channel:
                    yield (section, str(name), "settings"), "is written as settings of the channel itself now."


def renamed_faults(content: Mapping[str, Any], locations: Locations, path: str) -> list[str]:
    """Returns a fault for each former setting, with its location; see `pipeline.config_file.check_config`."""
    return [f"{location_of(keys, locations, path)}: {'.'.join(keys)}: {fault}" for keys, fault in renamed_in(content)]


def without_renamed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Returns raw settings without the former ones."""
    kept = {key: dict(value) if isinstance(value, Mapping) else value for key, value in content.items()}
    for (section, *names), _ in renamed_in(content):
        if section in ("model", "lexicon", "encoder"):
            kept.pop(section, None)
        elif len(names) == 1:
            kept[section].pop(names[0])
        else:
            channel = kept[section][names[0]]
            kept[section][names[0]] = {key: value for key, value in channel.items() if key != names[1]}
    return kept
