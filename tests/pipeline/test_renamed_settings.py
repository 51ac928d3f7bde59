"""pipeline/renamed_settings.py: each former name of a setting is refused, and the new one is named."""

import re
from pathlib import Path

import pytest

from pipeline.config import RunConfig
from pipeline.renamed_settings import GONE, RENAMED
from pipeline.settings_file import known_keys
from tests.pipeline.test_config import add, faults_of

FORMER = {
    key if "." in key else f"{key}.weight": new if "." in key else f"{new}.weight" for key, new in RENAMED.items()
}
"""The former settings, with a setting of each former section, and what stands in their place."""
KNOWN = known_keys(RunConfig)


@pytest.mark.parametrize(("key", "new"), FORMER.items())
def test_a_former_name_is_refused_once_with_its_place_and_what_stands_for_it(
    config_file: Path, key: str, new: str
) -> None:
    assert key not in KNOWN and {*re.findall(r"\w+(?:\.\w+)+", new)} <= {*KNOWN}
    section, name = key.split(".")
    (fault,) = faults_of(config_file, f"{key}=x")
    place, _, told = fault.partition(": ")
    assert place in (f"--set {key}=x", f"--set {key}=...") and told == f"{key}: is written {new} now."
    add(config_file, f"{section}:\n  {name}: x\n")
    assert faults_of(config_file) == [f"{config_file}:9: {told}"]


@pytest.mark.parametrize(("key", "reason"), GONE.items())
def test_a_setting_that_is_gone_is_refused_with_the_reason(config_file: Path, key: str, reason: str) -> None:
    assert faults_of(config_file, f"{key}=x") == [f"--set {key}=x: {key}: is no longer a setting: {reason}."]


def test_the_settings_of_a_channel_no_longer_stand_in_a_section_of_their_own(config_file: Path) -> None:
    add(config_file, "channels:\n  topics: {kind: cl_lsi, settings: {dim: 3}}\n")
    told = "channels.topics.settings: is written as settings of the channel itself now."
    assert faults_of(config_file) == [f"{config_file}:9: {told}"]


def test_other_faults_are_reported_beside_former_names(config_file: Path) -> None:
    add(config_file, "model:\n  encoder: cnn\n  dropout: 2\nloss: {name: mse, margin: 1}\ntraining: {epochs: 0}\n")
    faults = faults_of(config_file, "lexicon.translator.kind=none", "training.optimizer=adam")
    assert sorted(fault.split(": ")[1] for fault in faults) == sorted(
        ["model.encoder", "model.dropout", "loss.name", "loss.margin", "training.epochs"]
        + ["lexicon.translator", "training.optimizer"]
    )
