"""Parts that are added by an entry in a table, chosen by name in a configuration file: what is refused, and where.

How they are trained and exported is tested in `tests/components/trainer/test_presets.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pipeline.config_file import load_config
from schemas.errors import ConfigError
from tests import added_parts

pytestmark = pytest.mark.tensors

SAMPLE = Path(__file__).parents[1] / "data" / "sample"
DATA = {
    "queries": str(SAMPLE / "wiki_en.queries"),
    "documents": str(SAMPLE / "wiki_fr.documents"),
    "judgments": str(SAMPLE / "en2fr.rel"),
    "query_language": "en",
    "document_language": "fr",
}


@pytest.fixture(scope="module", autouse=True)
def added_entries() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        added_parts.add_entries(patch)
        yield


INDEX = {"search": {"index": True}}


@pytest.mark.parametrize(
    ("sections", "shown"),
    [
        ({"channels": {"towers": "wide"}, **INDEX}, "search: .*wide"),
        ({"channels": {"near": "length"}, **INDEX}, "search: .*near"),
        ({"channels": {"towers": "tall"}}, "channels.towers.kind: .*two_towers, .*, wide; got 'tall'"),
        ({"channels": {"towers": {"kind": "wide", "dims": 3}}}, "channels.towers.dims: .* channels.towers.dim"),
        ({"training": {"objective": "guess"}}, "objective.kind: .*lists, in_batch, drawn, guessing; got 'guess'"),
        ({"loss": {"kind": "huber", "dleta": 1}}, "loss.dleta: unknown key; did you mean loss.delta"),
        ({"loss": {"delta": 1}}, "loss.delta: is a setting of the kind huber"),
        ({"training": {"objective": "lists"}, "loss": {"in_batch": True}}, "in_batch"),
        ({"channels": {"towers": "wide"}, "loss": {"in_batch": True}}, "in_batch with towers of the kind wide"),
        ({"channels": {"near": {"kind": "lengths"}}}, "channels.near.kind: .*cl_lsi, length; got 'lengths'"),
        ({"channels": {"Near": {"kind": "length"}}}, "channels: .*got 'Near'"),
        ({"channels": {"smooth_cosine": {"kind": "length"}}}, "channels: .*got smooth_cosine"),
        ({"channels": {"words": {"kind": "bm25"}}}, "channels: .*bm25"),
        ({"channels": {"near": {"kind": "length", "weight": "much"}}}, "channels.near.weight: .*fitted or held_out"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_with_its_place(tmp_path, sections, shown) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump({"preset": "paper", "data": DATA, "output": str(tmp_path / "out"), **sections}))
    with pytest.raises(ConfigError, match=rf"run\.yaml.*{shown}"):
        load_config(str(file))


def test_parts_that_are_added_may_be_chosen_together(tmp_path) -> None:
    file = tmp_path / "run.yaml"
    sections = {
        "channels": {"towers": {"kind": "wide", "dim": 6}, "near": {"kind": "length", "weight": 0.25}},
        "loss": {"kind": "huber", "delta": 0.2},
        "training": {"objective": "guessing"},
    }
    file.write_text(yaml.safe_dump({"preset": "paper", "data": DATA, "output": str(tmp_path / "out"), **sections}))
    config = load_config(str(file))
    assert (config.channels.towers, config.channels.own["near"].weight) == (added_parts.WideSettings(dim=6), 0.25)
    assert config.loss == added_parts.HuberSettings(delta=0.2, theta=(0.2, 0.7))
    assert config.training.objective == added_parts.GuessingSettings()
