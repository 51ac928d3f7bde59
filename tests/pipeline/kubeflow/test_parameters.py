"""Runtime parameters: their defaults are the configuration's, and each comes to where its stages have the setting."""

import json

import pytest

from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.kubeflow.parameters import RUNTIME_PARAMETERS, with_parameters
from pipeline.settings_file import known_keys
from pipeline.stages import STAGES


def test_every_parameter_is_a_setting_of_stages_that_are_there():
    for parameter in RUNTIME_PARAMETERS.values():
        assert parameter.setting in known_keys(RunConfig)
        assert set(parameter.keys) <= set(STAGES)


def test_a_default_is_the_configuration_s_value_and_a_null_has_a_number(config_file):
    config = load_config(str(config_file), ["training.epochs=7", "training.seed=3"])
    defaults = {name: parameter.default(config) for name, parameter in RUNTIME_PARAMETERS.items()}
    assert (defaults["training_epochs"], defaults["training_seed"]) == (7, 3)
    assert defaults["evaluation_start_anew"] is False
    unknown = load_config(str(config_file), ["preset=best"])
    assert unknown.training.epochs is None
    assert RUNTIME_PARAMETERS["training_epochs"].default(unknown) == 0


@pytest.mark.parametrize(("argument", "value"), [(3.0, 3), (0.0, None), (2.5, 2.5)])
def test_a_number_is_what_the_setting_takes(argument, value):
    number = RUNTIME_PARAMETERS["training_epochs"].value(argument)
    assert (number, type(number)) == (value, type(value))  # 2.5 is left to the setting's own check


def test_a_parameter_replaces_one_value_in_the_json_of_its_stage():
    custom_config = {"training": {"epochs": 1, "seed": 1, "patience": None}, "model": {"epsilon": 1.0}}
    values = {"custom_config": json.dumps(custom_config), "training_epochs": 3.0, "training_seed": 2.0, "identity": "i"}
    replaced = with_parameters("Trainer", values)
    custom_config["training"] |= {"epochs": 3, "seed": 2}
    assert {**replaced, "custom_config": json.loads(replaced["custom_config"])} == {
        "custom_config": custom_config,
        "identity": "i",
    }


def test_without_parameters_nothing_changes():
    properties = {"top_grade": 2, "settings": '{"start_anew":false}'}
    assert with_parameters("Evaluator", properties) == properties
