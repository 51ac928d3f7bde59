"""experiments/grid.py: the cells of an experiment's file, and what each of its faults says."""

import hashlib
import re
from pathlib import Path

import pytest
import yaml

from models.encoders.settings import USE_VERSION
from models.translators.settings import TranslatorEndpointSettings
from pipeline.config import RunConfig
from pipeline.config_file import dump_config, load_config
from schemas.errors import ConfigError
from smooth_clir.experiments.cell import Cell
from smooth_clir.experiments.grid import PlannedCell, load_grid
from smooth_clir.experiments.report.published import read_published
from smooth_clir.experiments.settings import ExperimentSettings

CONFIGS = Path(__file__).parents[2] / "configs" / "experiments"

EXPERIMENT = """\
title: Losses
run: run.yaml
grid:
  loss.kind: [sosl, three_part_l2]
  channels.towers.epsilon: [0, 0.5]
  training.seed: [1, 2]
adjust:
- when: {loss.kind: sosl, training.seed: 2}
  set: {training.epochs: 3, loss.theta: [0.1, 0.6]}
output: experiment
"""
CLAIM = """\
claims:
- says: SOSL ranks above 3-Part-L2
  metrics: [ndcg_5]
  row: {loss.kind: sosl, channels.towers.epsilon: 0}
  than: [{loss.kind: three_part_l2, channels.towers.epsilon: 0}]
"""
ROW = "{loss.kind: three_part_l2, channels.towers.epsilon: 0}"


@pytest.fixture
def experiment_file(config_file: Path) -> Path:
    """An experiment of ten lines beside the run that it varies."""
    path = config_file.with_name("experiment.yaml")
    path.write_text(EXPERIMENT)
    return path


def replace(file: Path, *changes: tuple[str, str]) -> None:
    """Replaces parts of a file, each by its new text."""
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def cells_of(file: Path, *changes: tuple[str, str]) -> tuple[PlannedCell, ...]:
    replace(file, *changes)
    return load_grid(str(file)).cells


def configs_of(file: Path, *changes: tuple[str, str]) -> list[RunConfig]:
    """The configurations of the cells, none of which may be at fault."""
    configs = [cell.config for cell in cells_of(file, *changes)]
    assert all(configs)
    return [config for config in configs if config]


def faults_of(file: Path) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load_grid(str(file))
    return list(error.value.faults)


def test_cells_are_all_combinations_in_the_order_of_the_grid_with_the_run_s_settings_and_their_own(
    experiment_file: Path, config_file: Path, tmp_path: Path
) -> None:
    experiment_file.write_text(EXPERIMENT + CLAIM)
    config_file.write_text(config_file.read_text() + "preset: closed\nchannels:\n  towers: {embedding_dim: 7}\n")
    cells = cells_of(experiment_file)
    assert [tuple(cell.settings.items()) for cell in cells] == [
        (("loss.kind", loss), ("channels.towers.epsilon", epsilon), ("training.seed", seed))
        for loss in ("sosl", "three_part_l2")
        for epsilon in (0, 0.5)
        for seed in (1, 2)
    ]
    assert cells[2].name == "sosl-epsilon0.5-seed1"
    config = cells[-1].config
    assert config is not None and config.data.sha256.queries is not None
    assert (config.preset, config.channels.towers.embedding_dim) == ("closed", 7)
    assert (config.channels.towers.epsilon, config.training.seed) == (0.5, 2)
    # The loss's own, not those that the run's loss would have.
    assert (config.loss.kind, config.loss.theta) == ("three_part_l2", (0.2, 0.55, 0.9))
    assert config.output == str(experiment_file.parent / "experiment" / "cells" / cells[-1].name)
    # It is a configuration that `clir run` takes.
    (tmp_path / "cell.yaml").write_text(dump_config(config))
    assert load_config(str(tmp_path / "cell.yaml")) == config


def test_adjustments_apply_to_the_cells_that_match_all_of_when(experiment_file: Path) -> None:
    adjusted = [config for config in configs_of(experiment_file) if config.training.epochs == 3]
    assert [(config.loss.kind, config.channels.towers.epsilon, config.training.seed) for config in adjusted] == [
        *[("sosl", 0, 2), ("sosl", 0.5, 2)]
    ]
    assert all(config.loss.theta == (0.1, 0.6) for config in adjusted)


def test_each_variant_goes_through_the_grid_and_sets_what_it_names(experiment_file: Path) -> None:
    cells = cells_of(
        experiment_file,
        ("grid:\n  loss.kind: [sosl, three_part_l2]\n", "grid:\n"),
        (
            "adjust:\n- when: {loss.kind: sosl, training.seed: 2}",
            "variants:\n  as it is: {}\n  + lexicon: {preset: paper, channels.lexicon.kind: lexicon, "
            "channels.lexicon.translator.kind: endpoint, channels.lexicon.translator.address: http://localhost}\n"
            "adjust:\n- when: {variant: as it is, training.seed: 2}",
        ),
    )
    assert [tuple(cell.settings.values()) for cell in cells] == [
        (variant, epsilon, seed) for variant in ("as it is", "+ lexicon") for epsilon in (0, 0.5) for seed in (1, 2)
    ]
    configs = configs_of(experiment_file)
    chosen = [(config.preset, config.channels.lexicon.translator) for config in configs]
    translator = TranslatorEndpointSettings(address="http://localhost")
    assert chosen == [*[("best", None)] * 4, *[("paper", translator)] * 4]
    assert [config.training.epochs == 3 for config in configs] == [False, True] * 2 + [False] * 4
    assert (cells[0].name, cells[4].name) == ("as_it_is-epsilon0-seed1", "variant+_lexicon-epsilon0-seed1")


def test_a_cell_s_configuration_holds_the_digests_of_word_vectors_and_further_pairs(
    experiment_file: Path, config_file: Path
) -> None:
    contents = {"fr.vec": b"loup 1 2\n", "pairs.tsv": b"wolf\tloup\n"}
    for name, content in contents.items():
        config_file.with_name(name).write_bytes(content)
    settings = "channels: {towers: {embedding_dim: 2}, lexicon: {pairs: pairs.tsv}}\nembeddings: {document: fr.vec}\n"
    config_file.write_text(config_file.read_text() + settings)
    config, *_ = configs_of(experiment_file)
    digests = config.embeddings.sha256.document, config.channels.lexicon.sha256.pairs
    assert digests == tuple(hashlib.sha256(content).hexdigest() for content in contents.values())
    assert config.embeddings.sha256.query is None


def put_run_into(experiment_file: Path, config_file: Path) -> None:
    run = "".join(f"  {line}\n" for line in config_file.read_text().replace("output: out\n", "").splitlines())
    replace(experiment_file, ("run: run.yaml\n", f"run:\n{run}"))


def test_the_run_may_stand_in_the_file(experiment_file: Path, config_file: Path) -> None:
    before = cells_of(experiment_file)
    put_run_into(experiment_file, config_file)
    assert cells_of(experiment_file) == before


@pytest.mark.parametrize("output", ["output: ''", "output: experiment.yaml", ""])
def test_a_fault_of_the_output_is_reported_once(experiment_file: Path, config_file: Path, output: str) -> None:
    put_run_into(experiment_file, config_file)
    replace(experiment_file, ("output: experiment\n", f"{output}\n"))
    (fault,) = faults_of(experiment_file)
    assert ": output: " in fault


@pytest.mark.parametrize(
    ("changes", "faulty", "fault"),
    [
        (
            [("[0, 0.5]", "[0, -1]")],
            {"channels.towers.epsilon": -1},
            r"experiment\.yaml:5: channels\.towers\.epsilon: .* got -1",
        ),
        (
            [("{loss.kind: sosl, training.seed: 2}", "{training.seed: 2}")],
            {"loss.kind": "three_part_l2", "training.seed": 2},
            r"loss: theta .* 3 .* three_part_l2, .* got \[0\.1, 0\.6\]$",
        ),
        (
            [("grid:\n", "variants:\n  a: {}\n  b:\n    channels.towers.encoder.word_dropout: 2\ngrid:\n")],
            {"variant": "b"},
            r"experiment\.yaml:6: channels\.towers\.encoder\.word_dropout: ",
        ),
        (
            [("channels.towers.epsilon: [0, 0.5]", "preset: [best, besst]")],
            {"preset": "besst"},
            r"experiment\.yaml:5: preset: .* paper, .* got 'besst'; did you mean best\?$",
        ),
    ],
)
def test_an_impossible_cell_is_at_fault_alone_with_the_place_of_its_value(
    experiment_file: Path, changes: list[tuple[str, str]], faulty: dict[str, object], fault: str
) -> None:
    for cell in cells_of(experiment_file, *changes):
        is_faulty = faulty.items() <= cell.settings.items()
        assert (cell.config is None) == (cell.fault is not None) == is_faulty
        assert not is_faulty or re.search(fault, cell.fault or "")


@pytest.mark.parametrize(
    ("old", "new", "location", "shown"),
    [
        ("title: Losses", "titel: Losses", ":1: titel: ", "title?"),
        ("run: run.yaml", "run: 3", ":2: run: ", "got 3"),
        ("loss.kind: [", "loss.nam: [", ":4: grid.loss.nam: ", "got 'loss.nam'; did you mean loss.kind?"),
        ("channels.towers.epsilon: [0, 0.5]", "channels.towers.epsilon: []", ":5: grid.channels.towers.epsilon: ", ""),
        ("[1, 2]", "[1, 2, 1]", ":6: grid.training.seed: ", "got 1 twice"),
        ("[1, 2]", "[a b, a/b]", ":3: grid: ", "sosl-epsilon0-a_b"),
        ("channels.towers.epsilon", "data.negatives", ":5: grid.data.negatives: ", ""),
        ("channels.towers.epsilon", "data.vocabulary_size", ":5: grid.data.vocabulary_size: ", ""),
        ("channels.towers.epsilon", "channels.lexicon.pairs", ":5: grid.channels.lexicon.pairs: ", ""),
        ("channels.towers.epsilon", "presets", ":5: grid.presets: ", "got 'presets'; did you mean preset?"),
        ("channels.towers.epsilon", "output", ":5: grid.output: ", ""),
        ("grid:\n", "variants: {a: {channels.towers.epsilon: 1}}\ngrid:\n", ":3: variants.a.channels.towers.eps", ""),
        ("grid:\n", "variants: {a: {data.used_negatives: 3}}\ngrid:\n", "variants.a.data.used_negatives: ", ""),
        ("grid:\n", "variants: {a: {los.kind: mse}}\ngrid:\n", ":3: variants", "got 'los.kind'; did you mean loss"),
        ("grid:\n", "variants: {a: {loss.name: mse}}\ngrid:\n", ":3: variants", "is written loss.kind now"),
        ("grid:\n", "variants: {a b: {}, a/b: {}}\ngrid:\n", ":3: variants: ", "a_b-sosl-epsilon0-seed1"),
        ("training.epochs: 3", "data.seed: 3", ":9: adjust.0.set.data.seed: ", ""),
        ("training.epochs: 3", "channels.towers.epsilon: 3", ":9: adjust.0.set.channels.towers.epsilon: ", ""),
        ("seed: 2}", "seed: 3}", ":8: adjust.0.when.training.seed: ", "([1, 2]); got 3"),
        ("when: {loss.kind", "when: {loss.nam", ":8: adjust.0.when.loss.nam: ", "did you mean loss.kind?"),
        ("output: experiment", "published: domains_table_1\noutput: out", ":10: published: ", "data.held_out"),
        ("output: experiment", "published: psi_table_5\noutput: out", ":10: published: ", "did you mean psi_table_"),
        ("output: experiment", "published: own.yaml\noutput: out", "own.yaml", "cannot be read"),
        ("output: experiment", "psi_table: '6'\noutput: out", ":10: psi_table: ", "`published: psi_table_6`"),
        ("[ndcg_5]", "[ndcg5]", ":13: claims.0.metrics.0: ", "did you mean ndcg_5?"),
        ("row: {loss.kind: sosl", "row: {loss.nam: sosl", ":14: claims.0.row.loss.nam: ", "did you mean loss.kind?"),
        ("row: {loss.kind: sosl", "row: {loss.kind: mse", ":14: claims.0.row.loss.kind: ", "got 'mse'"),
        ("row: {loss.kind: sosl, ", "row: {", ":14: claims.0.row: ", "loss.kind"),
        ("row: {", "row: {training.seed: 1, ", ":14: claims.0.row.training.seed: ", ""),
        ("row: {loss.kind: sosl, ", "row: {baseline: bm25, ", ":14: claims.0.row.baseline: ", ""),
        ("{loss.kind: three_part_l2", "{loss.kind: sosl", ":15: claims.0.than.0: ", ""),
        (ROW, "{baseline: perceptrn}", ":15: claims.0.than.0.baseline: ", "got 'perceptrn'; did you mean perceptron?"),
        (ROW, "{channel: lexcon}", ":15: claims.0.than.0.channel: ", "got 'lexcon'; did you mean lexicon?"),
        (ROW, "{baseline: bm25, channels.towers.epsilon: 0}", ":15: claims.0.than.0: ", "got baseline, channels.t"),
    ],
)  # fmt: skip
def test_a_fault_names_its_location_its_key_and_what_came(
    experiment_file: Path, old: str, new: str, location: str, shown: str
) -> None:
    experiment_file.write_text(EXPERIMENT + CLAIM)
    replace(experiment_file, (old, new))
    assert any(location in fault and shown in fault for fault in faults_of(experiment_file))


def test_faults_of_experiment_and_run_are_reported_at_once(experiment_file: Path, config_file: Path) -> None:
    replace(experiment_file, ("title: Losses", "title: ''"))
    replace(config_file, ("wiki.queries", "missing"))
    title, queries = faults_of(experiment_file)
    assert title.startswith(f"{experiment_file}:1: title: ")
    assert re.search(r"run\.yaml:2: data\.queries: .*missing", queries)


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_experiments_of_the_project_are_good_ones(file: Path) -> None:
    # The collections of most are not part of the project.
    settings = ExperimentSettings.model_validate(yaml.safe_load(file.read_text()))
    assert not list(settings.faults())
    tools = {"unseen": "python -m tools.unseen_documents", "few_pairs": "python -m tools.learning_curve"}
    command = next((tool for name, tool in tools.items() if name in file.stem), "clir experiment")
    assert f"{command} configs/experiments/{file.name}" in file.read_text()
    run = settings.run if isinstance(settings.run, dict) else yaml.safe_load((file.parent / settings.run).read_text())
    presets = dict.fromkeys(("ablation", "encoders", "few_pairs", "systems", "unseen", "psi_table_6"), "best") | {
        "psi_table": "polynomial"
    }
    assert run["preset"] == next((preset for start, preset in presets.items() if file.stem.startswith(start)), "paper")


@pytest.mark.parametrize(
    "varied",
    [
        "channels.towers.encoder.stem_embeddings: [true, false]",
        "channels.lexicon: [null, {kind: bm25, weight: 1.0, in_training: false}]",
        "channels.lexicon.weight: [fitted, 1.0]",
        "data.used_negatives: [20, null]",
    ],
)
def test_what_presets_decide_and_the_number_of_nr_documents_may_vary(experiment_file: Path, varied: str) -> None:
    ((key, values),) = yaml.safe_load(varied).items()
    configs = configs_of(experiment_file, ("channels.towers.epsilon: [0, 0.5]", varied))
    cells = [Cell("", {}, config=config.model_dump()) for config in configs[:4:2]]
    assert [cell.setting(key) for cell in cells] == values


def test_a_run_on_dumps_may_be_varied_and_a_collection_without_domains_has_none(experiment_file: Path) -> None:
    replace(experiment_file, ("run.yaml", str(CONFIGS.with_name("sample_dumps.yaml"))))
    grid = load_grid(str(experiment_file))
    assert grid.collection == "sample" and not any(cell.fault for cell in grid.cells)
    assert grid.domains == ()


# Held-out domains


@pytest.fixture
def domains_file(experiment_file: Path, config_file: Path) -> Path:
    """The experiment on three queries of three domains; it holds each of two out."""
    config_file.with_name("domains.tsv").write_text("q1\tnews\nq2\thealth\nq3\tbible\n")
    queries = "".join(f"q{number}\tWolf\tlives in packs\n" for number in (1, 2, 3))
    config_file.with_name("wiki.queries").write_text(queries)
    replace(config_file, ("  judgments:", "  domains: domains.tsv\n  judgments:"))
    replace(
        experiment_file,
        ("loss.kind: [sosl, three_part_l2]", "data.held_out: [[news], [health]]"),
        ("loss.kind: sosl, ", "data.held_out: [news], "),
        ("output: experiment", "published: domains_table_2\noutput: experiment"),
    )
    return experiment_file


def test_held_out_domains_may_vary_and_the_collection_s_domains_are_known(domains_file: Path) -> None:
    grid, configs = load_grid(str(domains_file)), configs_of(domains_file)
    assert (grid.domains, grid.published) == (("bible", "health", "news"), read_published("domains_table_2"))
    assert [config.data.held_out for config in configs[::4]] == [("news",), ("health",)]
    assert [config.training.epochs == 3 for config in configs] == [False, True] * 2 + [False] * 4


def test_an_adversary_may_vary_and_without_held_out_domains_its_texts_fail_alone(domains_file: Path) -> None:
    cells = cells_of(
        domains_file,
        ("[[news], [health]]", "[[], [news]]"),
        ("channels.towers.epsilon: [0, 0.5]", "adversary.held_out_texts: [false, true]"),
        ("training.seed: [1, 2]", "adversary.weight: [0, 0.25]"),
        ("training.seed: 2", "adversary.weight: 0.25"),
        ("training.epochs: 3", "adversary.updates: alternate"),
    )
    faulty = [cell for cell in cells if cell.fault]
    assert [[*cell.settings.values()][:2] for cell in faulty] == [[[], True]] * 2
    assert all(re.search(r"held_out_texts .*data\.held_out", cell.fault or "") for cell in faulty)
    adversaries = [cell.config.adversary for cell in cells if cell.config]
    assert [(adversary.weight, adversary.updates, adversary.held_out_texts) for adversary in adversaries] == [
        *[(0, "simultaneous", False), (0.25, "simultaneous", False)],
        *[(0, "simultaneous", False), (0.25, "alternate", False)],
        *[(0, "simultaneous", True), (0.25, "alternate", True)],
    ]


# Presets


def test_a_preset_may_vary_and_decides_what_neither_run_nor_cell_gives(
    experiment_file: Path, config_file: Path
) -> None:
    config_file.write_text(config_file.read_text() + "training:\n  batch_lists: 8\n  learning_rate_end: null\n")
    configs = configs_of(
        experiment_file,
        ("loss.kind: [sosl, three_part_l2]", "preset: [paper, best]"),
        ("channels.towers.epsilon: [0, 0.5]", "channels.towers.encoder: [mean, cnn]"),
        ("{loss.kind: sosl, training.seed: 2}", "{preset: best, training.seed: 2}"),
    )
    names = [cell.name for cell in cells_of(experiment_file)[::2]]
    assert names == ["paper-mean-seed1", "paper-cnn-seed1", "best-mean-seed1", "best-cnn-seed1"]
    assert [
        (
            config.preset,
            config.channels.towers.embedding_dim,
            config.channels.towers.encoder.reads.stems,
            config.training.epochs,
        )
        for config in configs
    ] == [
        *[("paper", 64, False, 30)] * 4,
        *[("best", 128, True, None), ("best", 128, True, 3)],  # the adjustment
        *[("best", 128, False, 30), ("best", 128, False, 3)],
    ]
    trainings = {(config.training.batch_lists, config.training.learning_rate_end) for config in configs}
    assert trainings == {(8, None)}


def test_a_preset_over_a_resolved_run_fails_its_cells_alone(experiment_file: Path, config_file: Path) -> None:
    config_file.write_text(dump_config(load_config(str(config_file))))
    cells = cells_of(
        experiment_file, ("loss.kind: [sosl, three_part_l2]", "preset: [best, paper]"), ("loss.kind: sosl, ", "")
    )
    assert [cell.settings["preset"] for cell in cells if cell.fault] == ["paper"] * 4
    assert str(cells[-1].fault).startswith(f"{experiment_file}:4: preset: ")


# The project's own files


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_published_experiment_has_the_same_cells_whatever_is_installed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its collection need not be here."""
    configs = []
    for version in ("none", USE_VERSION):
        monkeypatch.setattr("models.encoders.settings.metadata.version", lambda name, version=version: version)
        configs.append([cell.config for cell in load_grid(str(file), has_files=False).cells])
    assert configs[0] == configs[1] and None not in configs[0]


@pytest.mark.parametrize("file", sorted((CONFIGS.parent / "best").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_run_that_experiments_vary_has_no_encoder_of_the_machine(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    assert (content["preset"], content["channels"]) == ("best", {"encoder": None})


def test_without_files_a_grid_is_that_with_them_but_for_digests_and_domains(experiment_file: Path) -> None:
    with_files = load_grid(str(experiment_file))
    without = load_grid(str(experiment_file), has_files=False)
    for cell, bare in zip(with_files.cells, without.cells, strict=True):
        assert cell.config and bare.config and cell.name == bare.name
        assert bare.config.data.sha256.queries is None
        assert cell.config.model_copy(update={"data": bare.config.data}) == bare.config
    replace(experiment_file.with_name("run.yaml"), ("queries:", "queries: /nowhere/"))
    with pytest.raises(ConfigError):
        load_grid(str(experiment_file))
    assert load_grid(str(experiment_file), has_files=False).cells
