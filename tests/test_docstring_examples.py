"""The examples in docstrings show what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

from tests.test_imports import MAY_IMPORT, ROOT, modules


def modules_with_examples(root: Path) -> list[str]:
    """Every module of the rooms whose source holds an example: no other is imported, for some take seconds."""
    return [name for name, path in modules(root, MAY_IMPORT).items() if ">>> " in path.read_text(encoding="utf-8")]


LAYERS = {"schemas": (), "wikipedia": (), "components": pytest.mark.stages}
"""The marks of a room's examples; other rooms import TensorFlow, but not TFX."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=LAYERS.get(name.partition(".")[0], pytest.mark.tensors))
        for name in modules_with_examples(ROOT)
    ],
)
def test_examples_show_what_they_say(name: str) -> None:
    failed, attempted = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert attempted > 0, "no docstring holds the example"
    assert failed == 0


def test_modules_of_every_room_are_found_by_their_source(tmp_path: Path) -> None:
    example = '"""An example.\n\n    >>> 1 + 1\n    2\n"""\n'
    files = {
        "schemas/a.py": example,
        "models/layers/b.py": example,
        "cli/c.py": '"""No example."""\n',
        "components/one/d.py": f"import nothing_of_that_name\n\n\ndef f():\n    {example}",
        "tests/e.py": example,
    }
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(source)
    assert sorted(modules_with_examples(tmp_path)) == ["components.one.d", "models.layers.b", "schemas.a"]


def test_there_are_examples_in_the_rooms_that_people_read_most() -> None:
    rooms = {name.split(".")[0] for name in modules_with_examples(ROOT)}
    assert rooms >= {"schemas", "models", "components"}
