"""schemas/lexicon_inputs.py: what the functions that train see of a lexicon."""

import pytest

pytestmark = pytest.mark.beam  # it imports TFX


def artifact(type_name: str, uri: str, **properties: str):
    from tfx.types import standard_artifacts

    from schemas import artifacts

    made = (getattr(artifacts, type_name, None) or getattr(standard_artifacts, type_name))()
    made.uri = uri
    for name, value in properties.items():
        setattr(made, name, value)
    return made


def test_the_folder_of_the_lexicon_and_the_eval_texts_join_the_configuration() -> None:
    from tfx.utils import json_utils

    from schemas.lexicon_inputs import with_lexicon
    from schemas.lexicon_keys import LEXICON_KEY, TEXTS_KEY

    inputs = {
        "lexicon": [artifact("Lexicon", "/lexicon/7")],
        "texts": [artifact("Examples", "/examples/3", split_names='["train", "eval", "test"]')],
        "examples": [],
    }
    properties = {"custom_config": json_utils.dumps({"model": {"epsilon": 1}}), "run_fn": "run"}
    found = with_lexicon(inputs, properties)
    assert found["run_fn"] == "run"
    assert json_utils.loads(found["custom_config"]) == {
        "model": {"epsilon": 1}, LEXICON_KEY: "/lexicon/7", TEXTS_KEY: "/examples/3/Split-eval/*",
    }  # fmt: skip
    assert json_utils.loads(properties["custom_config"]) == {"model": {"epsilon": 1}}


def test_without_a_lexicon_nothing_changes() -> None:
    from schemas.lexicon_inputs import with_lexicon

    assert with_lexicon({"examples": []}, {"custom_config": "{}"}) == {"custom_config": "{}"}
