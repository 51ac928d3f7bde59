"""How a lexicon reaches the functions that train: TFX hands them the inputs that it knows, and a `custom_config`."""

import os
from collections.abc import Mapping
from typing import Any, Final

from tfx import types
from tfx.types import artifact_utils, component_spec, standard_artifacts, standard_component_specs
from tfx.utils import json_utils

from schemas.artifacts import Lexicon
from schemas.lexicon_keys import LEXICON_KEY, TEXTS_KEY

_CUSTOM_CONFIG = standard_component_specs.CUSTOM_CONFIG_KEY


LEXICON_INPUTS: Final = {
    LEXICON_KEY: component_spec.ChannelParameter(type=Lexicon, optional=True),
    TEXTS_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples, optional=True),
}
"""Of a component that trains: the lexicon of the channel of words that match, if there is one, and the Examples that
the transformed ones were made of: the channel scores the texts of their eval split."""


def with_lexicon(input_dict: Mapping[str, list[types.Artifact]], exec_properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of an execution, whose `custom_config` holds the lexicon's folder and the files of eval texts."""
    if not input_dict.get(LEXICON_KEY):
        return {**exec_properties}
    config = json_utils.loads(exec_properties[_CUSTOM_CONFIG])
    config[LEXICON_KEY] = artifact_utils.get_single_uri(input_dict[LEXICON_KEY])
    config[TEXTS_KEY] = os.path.join(artifact_utils.get_split_uri(input_dict[TEXTS_KEY], "eval"), "*")
    return {**exec_properties, _CUSTOM_CONFIG: json_utils.dumps(config)}
