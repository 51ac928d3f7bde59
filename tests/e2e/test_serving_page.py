"""docs/serving.md shows what the stand-in for TF Serving really answers, with a model of the sample."""

from pathlib import Path

import pytest

from schemas.served_versions import MODEL_NAME
from tests.e2e.process import ROOT
from tests.e2e.python_page import agree
from tests.e2e.serving_page import PAGE, blocks, run_blocks
from tests.serving.test_tf_serving_configuration import read_yaml

pytestmark = pytest.mark.long

TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)


def test_every_block_of_the_page_prints_what_stands_below_it(demo_output: Path) -> None:
    shown = [block.output for block in BLOCKS if block.output is not None]
    printed = run_blocks(BLOCKS, demo_output)
    assert [(one, other) for one, other in zip(shown, printed, strict=True) if not agree(one, other)] == []


def test_only_blocks_that_start_a_server_are_not_executed() -> None:
    others = [block.code for block in BLOCKS if block.output is None]
    assert len(others) == 2 < len(BLOCKS)
    assert all("docker compose" in code or "kubectl" in code for code in others)


def test_every_command_of_the_page_names_files_that_are_there() -> None:
    assert (ROOT / "serving" / "tf_serving" / "kustomization.yaml").is_file()
    assert "-f serving/tf_serving/compose.yaml" in TEXT and (ROOT / "serving" / "tf_serving" / "compose.yaml").is_file()
    assert f"/v1/models/{MODEL_NAME}:predict" in TEXT


def test_the_page_says_which_image_is_pinned_and_that_no_tf_serving_was_run() -> None:
    (compose,) = read_yaml("compose.yaml")
    assert f"`{compose['services']['tf-serving']['image']}`" in TEXT
    assert "**TF Serving was not available for this page.**" in TEXT
    assert "Only the binary itself could show the rest" in TEXT
