"""The picture of the stages, docs/images/pipeline.svg."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = (ROOT / "docs" / "images" / "pipeline.svg").read_text(encoding="utf-8")


def boxes() -> Iterator[tuple[str, str]]:
    """The name in each large box of the picture, and the box's classes."""
    for kind, name in re.findall(r'<rect class="box ([\w ]+)" [^>]*width="140"[^>]*/>\s*<text [^>]*>([^<]+)<', PICTURE):
        yield name, kind


def stages() -> Iterator[tuple[str, str]]:
    """The name of each stage that the pipeline wires, and the module that it is made in."""
    tree = ast.parse((ROOT / "pipeline" / "pipeline.py").read_text(encoding="utf-8"))
    nodes = [*ast.walk(tree)]
    modules = {
        alias.name: node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_add":
            component, *stage_id = node.args
            name = component.id  # type: ignore[attr-defined]
            yield ast.literal_eval(stage_id[0]) if stage_id else name, modules[name]


def extends_tfx(module: str) -> bool:
    """Whether a stage is TFX's, as it is or extended."""
    path = ROOT / (module.replace(".", "/") + ".py")
    own = re.compile(r"^from tfx\.components\.\w+ import .*\bexecutor\b", re.MULTILINE)
    return module.startswith("tfx.") or own.search(path.read_text(encoding="utf-8")) is not None


def test_every_stage_of_the_pipeline_has_a_box_and_every_box_is_a_stage():
    assert {name for name, _ in boxes()} == {name for name, _ in stages()} | {"input files"}


def test_a_box_tells_a_stage_of_tfx_from_one_of_ours():
    tfx_stages = {name for name, module in stages() if extends_tfx(module)}
    assert {name for name, kind in boxes() if kind.startswith("tfx")} == tfx_stages
