"""The paper's four collections: ready for who has the release."""

import shutil
from pathlib import Path

import pytest

from pipeline.config_file import load_config
from schemas.errors import ConfigError
from smooth_clir.experiments.grid import load_grid

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"


@pytest.mark.parametrize("language", ["fr", "it", "sw", "tl"])
def test_a_run_and_an_experiment_have_the_papers_settings_where_the_release_lies(tmp_path: Path, language: str) -> None:
    configs = tmp_path / "configs" / "wikiclir"
    shutil.copytree(ROOT / "configs" / "wikiclir", configs)
    release = tmp_path / "data" / "wikiclir"
    release.mkdir(parents=True)
    shutil.copy(SAMPLE / "wiki_en.queries", release)
    shutil.copy(SAMPLE / "wiki_fr.documents", release / f"wiki_{language}.documents")
    shutil.copy(SAMPLE / "en2fr.rel", release / f"en2{language}.rel")
    config = load_config(str(configs / f"{language}.yaml"))
    assert (config.preset, config.data.document_language, config.data.max_queries) == ("paper", language, 25_000)
    assert (config.training.epochs, config.data.negatives, config.channels.towers.epsilon) == (30, 40, 1)
    assert f"clir run configs/wikiclir/{language}.yaml" in (configs / f"{language}.yaml").read_text()
    grid = load_grid(str(configs / f"losses_{language}.yaml"))
    assert (grid.settings.published, len(grid.cells)) == (f"wikiclir_{language}", 12)
    assert not any(cell.fault for cell in grid.cells)
    assert f"clir experiment configs/wikiclir/losses_{language}.yaml" in grid.text


def test_without_the_release_each_missing_file_is_named() -> None:
    with pytest.raises(ConfigError) as error:
        load_config(str(ROOT / "configs" / "wikiclir" / "sw.yaml"))
    for name in ("wiki_en.queries", "wiki_sw.documents", "en2sw.rel"):
        assert f"data/wikiclir/{name}" in str(error.value)
