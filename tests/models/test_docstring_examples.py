"""The examples in docstrings show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import models
import schemas

MODULES = [
    module.name
    for package in (models, schemas)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.name != "schemas.artifacts"  # imports TFX, which takes longer than all these tests
] + [
    "components.evaluator.gate",
    "components.wikiclir_example_gen.sampling",
    "experiments.report.names",
    "experiments.report.significance",
    "cli.summary",
    "components.training_report.tuning_report",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples():
    assert sum(
        len(test.examples) for name in MODULES for test in doctest.DocTestFinder().find(importlib.import_module(name))
    )
