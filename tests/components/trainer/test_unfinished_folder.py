"""The folder of an unfinished training: another one for whatever else decides the training."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from models.training.inputs import unfinished_folder

pytestmark = pytest.mark.stages  # it imports TFX


def folder_of(checkpoints: Path, **changes: Any) -> str:
    """The folder of a training that has begun."""
    values = {
        "job": "{}",
        "numbers": {"theta": 0.1},
        "train": "1a",
        "eval": "2b",
        "held_out": "",
        "devices": "1",
    } | changes
    lists = {name: SimpleNamespace(digest=lambda name=name: values[name]) for name in ("train", "eval", "held_out")}
    inputs: Any = SimpleNamespace(
        job=SimpleNamespace(checkpoints=str(checkpoints)),
        train_lists=lists["train"],
        eval_lists=lists["eval"],
        held_out_texts=lists["held_out"] if values["held_out"] else None,
    )
    arguments: Any = SimpleNamespace(job=values["job"], best_numbers=values["numbers"])
    folder = unfinished_folder(arguments, inputs, values["devices"])
    os.makedirs(folder, exist_ok=True)
    return folder


@pytest.mark.parametrize(
    "change",
    [{"job": "{ }"}, {"numbers": {"theta": 0.2}}, {"train": "1b"}, {"eval": "2c"}, {"held_out": "3"}, {"devices": "2"}],
    ids=lambda change: next(iter(change)),
)
def test_a_training_goes_on_only_with_equal_settings_data_and_devices(tmp_path: Path, caplog, change) -> None:
    with caplog.at_level(logging.INFO):
        first = folder_of(tmp_path)
        assert folder_of(tmp_path) == first
        assert caplog.messages == []
        assert folder_of(tmp_path, **change) != first
    assert len(caplog.messages) == 1
    assert len(os.listdir(tmp_path)) == 1  # that of the other training is removed
