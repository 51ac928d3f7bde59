"""experiments/grid.py: the cells of an experiment's file, and what each of its faults says."""

import hashlib
import re
from pathlib import Path

import pytest
import yaml

from experiments.grid import load_grid
from experiments.settings import ExperimentSettings
from pipeline.config import dump_config, load_config
from pipeline.presets import PRESETS
from schemas.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs" / "experiments"

EXPERIMENT = """\
title: Losses
run: run.yaml
grid:
  loss.name: [sosl, three_part_l2]
  model.epsilon: [0, 0.5]
  training.seed: [1, 2]
adjust:
- when: {loss.name: sosl, training.seed: 2}
  set: {training.epochs: 3, loss.theta: [0.1, 0.6]}
output: experiment
"""
CLAIM = """\
claims:
- says: SOSL ranks above 3-Part-L2
  metrics: [ndcg_5]
  row: {loss.name: sosl, model.epsilon: 0}
  than: [{loss.name: three_part_l2, model.epsilon: 0}]
"""


@pytest.fixture
def experiment_file(config_file: Path) -> Path:
    """An experiment of ten lines beside the run that it varies."""
    path = config_file.with_name("experiment.yaml")
    path.write_text(EXPERIMENT)
    return path


def replace(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def faults_of(file: Path) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load_grid(str(file))
    return list(error.value.faults)


def test_cells_are_all_combinations_in_the_order_of_the_grid(experiment_file: Path) -> None:
    cells = load_grid(str(experiment_file)).cells
    assert [tuple(cell.settings.values()) for cell in cells] == [
        (loss, epsilon, seed) for loss in ("sosl", "three_part_l2") for epsilon in (0, 0.5) for seed in (1, 2)
    ]
    assert all([*cell.settings] == ["loss.name", "model.epsilon", "training.seed"] for cell in cells)
    assert cells[2].name == "sosl-epsilon0.5-seed1"


def test_a_cell_has_the_run_s_settings_and_its_own(experiment_file: Path, config_file: Path) -> None:
    config_file.write_text(config_file.read_text() + "model:\n  embedding_dim: 7\n")
    cell = load_grid(str(experiment_file)).cells[-1]
    assert cell.config is not None
    assert (cell.config.model.embedding_dim, cell.config.model.epsilon, cell.config.training.seed) == (7, 0.5, 2)
    # The loss's own, not those that the run's loss would have.
    assert (cell.config.loss.name, cell.config.loss.theta) == ("three_part_l2", (0.2, 0.55, 0.9))
    assert cell.config.output == str(experiment_file.parent / "experiment" / "cells" / cell.name)


def test_adjustments_apply_to_the_cells_that_match_all_of_when(experiment_file: Path) -> None:
    cells = load_grid(str(experiment_file)).cells
    adjusted = [cell for cell in cells if cell.config and cell.config.training.epochs == 3]
    assert [cell.name for cell in adjusted] == ["sosl-epsilon0-seed2", "sosl-epsilon0.5-seed2"]
    assert all(cell.config and cell.config.loss.theta == (0.1, 0.6) for cell in adjusted)


def test_each_variant_goes_through_the_grid_and_sets_what_it_names(experiment_file: Path) -> None:
    replace(experiment_file, "grid:\n  loss.name: [sosl, three_part_l2]\n", "grid:\n")
    replace(
        experiment_file,
        "adjust:\n- when: {loss.name: sosl, training.seed: 2}",
        "variants:\n  as it is: {}\n  + lexicon: {preset: paper, lexicon.kind: lexicon}\n"
        "adjust:\n- when: {variant: as it is, training.seed: 2}",
    )
    cells = load_grid(str(experiment_file)).cells
    assert [tuple(cell.settings.values()) for cell in cells] == [
        (variant, epsilon, seed) for variant in ("as it is", "+ lexicon") for epsilon in (0, 0.5) for seed in (1, 2)
    ]
    assert [cell.config.lexicon.kind for cell in cells if cell.config] == ["lexicon"] * 8
    assert [cell.config.preset for cell in cells if cell.config] == ["best"] * 4 + ["paper"] * 4
    assert [cell.config.training.epochs == 3 for cell in cells if cell.config] == [False, True] * 2 + [False] * 4
    assert (cells[0].name, cells[4].name) == ("as_it_is-epsilon0-seed1", "variant+_lexicon-epsilon0-seed1")


@pytest.mark.parametrize(
    ("variants", "fault"),
    [
        ("{a: {model.epsilon: 1}}", "3: variants.a.model.epsilon: must not be a setting of the grid, which has"),
        ("{a: {data.used_negatives: 3}}", "variants.a.data.used_negatives: must be varied by the grid: rows with"),
        ("{a: {modl.epsilon: 1}}", "must be a setting of a run, as section.key; got 'modl.epsilon'; did you mean"),
        ("{a b: {}, a/b: {}}", "3: variants: two cells would be called a_b-sosl-epsilon0-seed1"),
        ("[a]", "3: variants: "),
    ],
)
def test_a_fault_of_the_variants_has_its_line(experiment_file: Path, variants: str, fault: str) -> None:
    replace(experiment_file, "grid:\n", f"variants: {variants}\ngrid:\n")
    assert fault in "\n".join(faults_of(experiment_file))


def test_an_impossible_variant_fails_alone_with_the_place_of_its_value(experiment_file: Path) -> None:
    replace(experiment_file, "grid:\n", "variants:\n  a: {}\n  b:\n    model.word_dropout: 2\ngrid:\n")
    cells = load_grid(str(experiment_file)).cells
    assert [cell.settings["variant"] for cell in cells if cell.fault] == ["b"] * 8
    assert "experiment.yaml:6: model.word_dropout: " in str(cells[-1].fault)


def test_a_cell_s_configuration_is_one_that_run_takes(experiment_file: Path, tmp_path: Path) -> None:
    config = load_grid(str(experiment_file)).cells[0].config
    assert config is not None and config.data.sha256.queries is not None
    (tmp_path / "cell.yaml").write_text(dump_config(config))
    assert load_config(str(tmp_path / "cell.yaml")) == config


def test_a_cell_s_configuration_holds_the_digests_of_word_vectors(experiment_file: Path, config_file: Path) -> None:
    (config_file.parent / "fr.vec").write_text("loup 1 2\n")
    config_file.write_text(config_file.read_text() + "model: {embedding_dim: 2}\nembeddings: {document: fr.vec}\n")
    config = load_grid(str(experiment_file)).cells[0].config
    assert config is not None and config.embeddings.sha256.query is None
    assert config.embeddings.sha256.document == hashlib.sha256(b"loup 1 2\n").hexdigest()


def test_a_cell_s_configuration_holds_the_digest_of_further_pairs(experiment_file: Path, config_file: Path) -> None:
    (config_file.parent / "pairs.tsv").write_text("wolf\tloup\n")
    config_file.write_text(config_file.read_text() + "lexicon: {pairs: pairs.tsv}\n")
    config = load_grid(str(experiment_file)).cells[0].config
    assert config is not None and config.lexicon.kind == "lexicon"
    assert config.lexicon.sha256.pairs == hashlib.sha256(b"wolf\tloup\n").hexdigest()


def test_the_run_may_stand_in_the_file(experiment_file: Path, config_file: Path) -> None:
    run = "".join(f"  {line}\n" for line in config_file.read_text().replace("output: out\n", "").splitlines())
    before = load_grid(str(experiment_file)).cells
    replace(experiment_file, "run: run.yaml\n", f"run:\n{run}")
    assert load_grid(str(experiment_file)).cells == before


@pytest.mark.parametrize("output", ["output: ''", "output: 3", "output: experiment.yaml", ""])
def test_a_fault_of_the_output_is_reported_once(experiment_file: Path, config_file: Path, output: str) -> None:
    run = "".join(f"  {line}\n" for line in config_file.read_text().replace("output: out\n", "").splitlines())
    replace(experiment_file, "run: run.yaml\n", f"run:\n{run}")
    replace(experiment_file, "output: experiment\n", f"{output}\n")
    (fault,) = faults_of(experiment_file)
    assert ": output: " in fault


def test_an_impossible_cell_is_at_fault_alone(experiment_file: Path) -> None:
    replace(experiment_file, "{loss.name: sosl, training.seed: 2}", "{training.seed: 2}")
    faulty = [cell for cell in load_grid(str(experiment_file)).cells if cell.fault]
    assert [cell.name for cell in faulty] == ["three_part_l2-epsilon0-seed2", "three_part_l2-epsilon0.5-seed2"]
    assert all(cell.config is None for cell in faulty)
    assert re.search(r"loss\.theta: must hold 3 thresholds for three_part_l2; got 2$", faulty[0].fault or "")


def test_a_fault_of_a_cell_names_the_place_in_the_grid(experiment_file: Path) -> None:
    replace(experiment_file, "[0, 0.5]", "[0, -1]")
    fault = load_grid(str(experiment_file)).cells[2].fault or ""
    assert fault.startswith(f"{experiment_file}:5: model.epsilon: must be greater than or equal to 0; got -1")


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("title: Losses", "titel: Losses", ":1: titel: ", "unknown key; did you mean title?"),
        ("run: run.yaml", "run: 3", ":2: run: ", "must be the path of a run's file, or the settings of a run; got 3"),
        ("loss.name: [", "loss.nam: [", ":4: grid.loss.nam: ", "got 'loss.nam'; did you mean loss.name?"),
        ("model.epsilon: [0, 0.5]", "model.epsilon: []", ":5: grid.model.epsilon: ", "must have at least 1 item"),
        ("model.epsilon: [0, 0.5]", "model.epsilon: 1", ":5: grid.model.epsilon: ", "must be a valid list; got 1"),
        ("[1, 2]", "[1, 2, 1]", ":6: grid.training.seed: ", "must hold every value once; got 1 twice"),
        ("[1, 2]", "[a b, a/b]", ":3: grid: ", "two cells would be called sosl-epsilon0-a_b"),
        ("model.epsilon", "data.negatives", ":5: grid.data.negatives: ", "cells share inputs"),
        ("model.epsilon", "model.vocabulary_size", ":5: grid.model.vocabulary_size: ", "cells share inputs"),
        ("model.epsilon", "lexicon.pairs", ":5: grid.lexicon.pairs: ", "cells share inputs"),
        ("model.epsilon", "presets", ":5: grid.presets: ", "got 'presets'; did you mean preset?"),
        ("model.epsilon", "output", ":5: grid.output: ", "a folder of its own"),
        ("training.epochs: 3", "data.seed: 3", ":9: adjust.0.set.data.seed: ", "cells share inputs"),
        ("training.epochs: 3", "model.epsilon: 3", ":9: adjust.0.set.model.epsilon: ", "must not be a setting of the"),
        ("seed: 2}", "seed: 3}", ":8: adjust.0.when.training.seed: ", "must be a value that the grid has; got 3 and"),
        ("when: {loss.name", "when: {loss.nam", ":8: adjust.0.when.loss.nam: ", "did you mean loss.name?"),
        ("output: experiment", "paper_language: de", ":10: paper_language: ", "got 'de'"),
        ("output: experiment", "domain_table: '3'", ":10: domain_table: ", "got '3'"),
        ("output: experiment", "domain_table: '1'\noutput: out", ":10: domain_table: ", "grid has no data.held_out"),
        ("[ndcg_5]", "[ndcg5]", ":13: claims.0.metrics.0: ", "did you mean ndcg_5?"),
        ("[ndcg_5]", "[]", ":13: claims.0.metrics: ", "at least 1 item"),
        ("row: {loss.name: sosl", "row: {loss.nam: sosl", ":14: claims.0.row.loss.nam: ", "did you mean loss.name?"),
        ("row: {loss.name: sosl", "row: {loss.name: mse", ":14: claims.0.row.loss.name: ", "must be a value that the"),
        ("row: {loss.name: sosl, ", "row: {", ":14: claims.0.row: ", "must name one row; loss.name separates several"),
        ("{loss.name: three_part_l2", "{loss.name: sosl", ":15: claims.0.than.0: ", "must be another row than"),
        ("than: [{loss.name: three_part_l2, model.epsilon: 0}]", "than: []", ":15: claims.0.than: ", "at least 1 item"),
        ("row: {", "row: {training.seed: 1, ", ":14: claims.0.row.training.seed: ", "a row is all its seeds"),
        (
            "{loss.name: three_part_l2, model.epsilon: 0}",
            "{baseline: perceptrn}",
            ":15: claims.0.than.0.baseline: ",
            "must be one of bm25, paper, tfidf, translated, query_expansion, lsi, lsi_mixed, cl_lsi, cl_lsi_mixed, "
            "perceptron, hash_kernel, structured_queries, cl_lsi_lexicon; got 'perceptrn'; did you mean perceptron?",
        ),
        (
            "{loss.name: three_part_l2, model.epsilon: 0}",
            "{baseline: bm25, model.epsilon: 0}",
            ":15: claims.0.than.0: ",
            "must name nothing beside the baseline; got baseline, model.epsilon",
        ),
        ("row: {loss.name: sosl, ", "row: {baseline: bm25, ", ":14: claims.0.row.baseline: ", "must be a setting of"),
        ("than:", "margin: 2\n  than:", ":15: claims.0.margin: ", "less than or equal to 1"),
        ("than:", "direction: over\n  than:", ":15: claims.0.direction: ", "'above' or 'below'"),
        ("- says: SOSL ranks above 3-Part-L2\n  metrics", "- metrics", ":12: claims.0.says: ", "must be given"),
    ],
)  # fmt: skip
def test_a_fault_names_its_place_its_key_and_what_came(
    experiment_file: Path, old: str, new: str, place: str, words: str
) -> None:
    experiment_file.write_text(EXPERIMENT + CLAIM)
    replace(experiment_file, old, new)
    assert any(one.startswith(f"{experiment_file}{place}") and words in one for one in faults_of(experiment_file))


def test_a_claim_names_rows_of_the_grid(experiment_file: Path) -> None:
    experiment_file.write_text(EXPERIMENT + CLAIM)
    (stated,) = load_grid(str(experiment_file)).settings.claims
    assert (stated.row["loss.name"], stated.than[0]["loss.name"]) == ("sosl", "three_part_l2")


def test_faults_of_experiment_and_run_are_reported_at_once(experiment_file: Path, config_file: Path) -> None:
    replace(experiment_file, "title: Losses", "title: ''")
    replace(config_file, "wiki.queries", "missing")
    title, queries = faults_of(experiment_file)
    assert title.startswith(f"{experiment_file}:1: title: ")
    assert re.search(r"run\.yaml:2: data\.queries: there is no file ", queries)


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_experiments_of_the_project_are_good_ones(file: Path) -> None:
    # The collections of most are not part of the project.
    settings = ExperimentSettings.model_validate(yaml.safe_load(file.read_text()))
    assert not list(settings.faults())
    command = "clir experiment" if "unseen" not in file.stem else "python -m tools.unseen_documents"
    assert f"{command} configs/experiments/{file.name}" in file.read_text()
    run = settings.run if isinstance(settings.run, dict) else yaml.safe_load((file.parent / settings.run).read_text())
    presets = dict.fromkeys(("ablation", "additions", "encoders", "unseen", "psi_table_6"), "best") | {
        "psi_table": "polynomial"
    }
    assert run["preset"] == next((preset for start, preset in presets.items() if file.stem.startswith(start)), "paper")


def test_data_used_negatives_may_vary(experiment_file: Path) -> None:
    replace(experiment_file, "model.epsilon: [0, 0.5]", "data.used_negatives: [20, null]")
    cells = load_grid(str(experiment_file)).cells
    assert [cell.config and cell.config.data.used_negatives for cell in cells[::2]] == [20, None, 20, None]
    assert cells[2].name == "sosl-used_negativesnull-seed1"


# Held-out domains


@pytest.fixture
def domains_file(experiment_file: Path, config_file: Path) -> Path:
    """Three queries of three domains beside the experiment, which holds each of two out."""
    folder = config_file.parent
    (folder / "domains.tsv").write_text("q1\tnews\nq2\thealth\nq3\tbible\n")
    (folder / "wiki.queries").write_text("".join(f"q{number}\tWolf\tlives in packs\n" for number in (1, 2, 3)))
    replace(config_file, "  judgments:", "  domains: domains.tsv\n  judgments:")
    replace(experiment_file, "loss.name: [sosl, three_part_l2]", "data.held_out: [[news], [health]]")
    replace(experiment_file, "loss.name: sosl, ", "data.held_out: [news], ")
    return folder / "domains.tsv"


def test_held_out_domains_may_vary_and_the_collection_s_domains_are_known(
    experiment_file: Path, domains_file: Path
) -> None:
    grid = load_grid(str(experiment_file))
    assert grid.domains == ("bible", "health", "news")
    assert [cell.config and cell.config.data.held_out for cell in grid.cells[::4]] == [("news",), ("health",)]
    assert [cell.config.training.epochs == 3 for cell in grid.cells if cell.config] == [False, True] * 2 + [False] * 4


def test_a_run_on_dumps_may_be_varied(experiment_file: Path) -> None:
    replace(experiment_file, "run.yaml", str(CONFIGS.with_name("sample_dumps.yaml")))
    grid = load_grid(str(experiment_file))
    assert grid.collection == "sample" and not any(cell.fault for cell in grid.cells)


def test_a_collection_without_domains_has_none(experiment_file: Path) -> None:
    assert load_grid(str(experiment_file)).domains == ()


def test_an_adversary_may_vary_and_without_held_out_domains_its_texts_fail_alone(
    experiment_file: Path, domains_file: Path
) -> None:
    replace(experiment_file, "[[news], [health]]", "[[], [news]]")
    replace(experiment_file, "model.epsilon: [0, 0.5]", "adversary.held_out_texts: [false, true]")
    replace(experiment_file, "training.seed: [1, 2]", "adversary.weight: [0, 0.25]")
    replace(experiment_file, "training.seed: 2", "adversary.weight: 0.25")
    replace(experiment_file, "training.epochs: 3", "adversary.updates: alternate")
    cells = load_grid(str(experiment_file)).cells
    faulty = [
        (cell.settings["data.held_out"], cell.settings["adversary.held_out_texts"]) for cell in cells if cell.fault
    ]
    assert faulty == [([], True)] * 2
    assert re.search(r"adversary: held_out_texts must be false where data\.held_out names no", cells[2].fault or "")
    adversaries = [cell.config.adversary for cell in cells if cell.config]
    assert [(one.weight, one.updates, one.held_out_texts) for one in adversaries] == [
        *[(0, "simultaneous", False), (0.25, "simultaneous", False)],
        *[(0, "simultaneous", False), (0.25, "alternate", False)],
        *[(0, "simultaneous", True), (0.25, "alternate", True)],
    ]


def test_a_table_of_domains_needs_domains_held_out_by_the_grid(experiment_file: Path, domains_file: Path) -> None:
    replace(experiment_file, "output: experiment", "domain_table: '2'\noutput: experiment")
    assert load_grid(str(experiment_file)).settings.domain_table == "2"


# Presets


def test_a_preset_may_vary_and_decides_what_neither_run_nor_cell_gives(
    experiment_file: Path, config_file: Path
) -> None:
    config_file.write_text(config_file.read_text() + "training:\n  batch_lists: 8\n  learning_rate_end: null\n")
    replace(experiment_file, "loss.name: [sosl, three_part_l2]", "preset: [paper, best]")
    replace(experiment_file, "model.epsilon: [0, 0.5]", "model.encoder: [mean, cnn]")
    replace(experiment_file, "{loss.name: sosl, training.seed: 2}", "{preset: best, training.seed: 2}")
    cells = load_grid(str(experiment_file)).cells
    assert [cell.name for cell in cells[::2]] == [
        "paper-mean-seed1",
        "paper-cnn-seed1",
        "best-mean-seed1",
        "best-cnn-seed1",
    ]
    found = [
        (
            cell.config.preset,
            cell.config.model.embedding_dim,
            cell.config.model.stem_embeddings,
            cell.config.training.epochs,
        )
        for cell in cells
        if cell.config
    ]
    assert found == [
        *[("paper", 64, False, 30)] * 4,
        *[("best", 128, True, None), ("best", 128, True, 3)],  # the adjustment
        *[("best", 128, False, 30), ("best", 128, False, 3)],
    ]
    assert all(cell.config and cell.config.training.batch_lists == 8 for cell in cells)
    assert all(cell.config and cell.config.training.learning_rate_end is None for cell in cells)


@pytest.mark.parametrize("named", ["", "preset: closed\n"])
def test_cells_have_the_preset_of_the_run_that_is_varied(experiment_file: Path, config_file: Path, named: str) -> None:
    config_file.write_text(config_file.read_text() + named)
    cells = load_grid(str(experiment_file)).cells
    expected = load_config(str(config_file))
    assert {cell.config and (cell.config.preset, cell.config.model.embedding_dim) for cell in cells} == {
        (expected.preset, 128)
    }


def test_an_unknown_preset_is_at_fault_in_its_cells_alone(experiment_file: Path) -> None:
    replace(experiment_file, "model.epsilon: [0, 0.5]", "preset: [best, besst]")
    cells = load_grid(str(experiment_file)).cells
    fault = f"{experiment_file}:5: preset: must be one of {', '.join(PRESETS)}; got 'besst'; did you mean best?"
    assert [cell.fault for cell in cells if cell.settings["preset"] == "besst"] == [fault] * 4
    assert all(cell.config for cell in cells if cell.settings["preset"] == "best")


@pytest.mark.parametrize("key", ["model.stem_embeddings", "lexicon.kind", "lexicon.weight"])
def test_what_presets_decide_may_vary(experiment_file: Path, key: str) -> None:
    values = {"model.stem_embeddings": "[true, false]", "lexicon.kind": "[none, bm25]", "lexicon.weight": "[fitted, 1]"}
    replace(experiment_file, "model.epsilon: [0, 0.5]", f"{key}: {values[key]}")
    assert all(cell.config for cell in load_grid(str(experiment_file)).cells)


def test_a_preset_over_a_resolved_run_fails_its_cells_alone(experiment_file: Path, config_file: Path) -> None:
    config_file.write_text(dump_config(load_config(str(config_file))))
    replace(experiment_file, "loss.name: [sosl, three_part_l2]", "preset: [best, paper]")
    replace(experiment_file, "loss.name: sosl, ", "")
    cells = load_grid(str(experiment_file)).cells
    assert [cell.settings["preset"] for cell in cells if cell.fault] == ["paper"] * 4
    assert str(cells[-1].fault).startswith(f"{experiment_file}:4: preset: must stay as it is where the file gives")
