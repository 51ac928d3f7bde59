"""pipeline/presets.py: what a preset gives, what overrides it, and what has none."""

from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.choices import SCORERS
from models.lexicon.settings import LexiconSettings
from models.losses.declarations import LOSSES
from models.settings import ENCODERS, LossSettings, ModelSettings
from models.training.settings import TrainingSettings
from pipeline.config import RunConfig, SourceSettings, dump_config, load_config
from pipeline.input_files import resolve_digests
from pipeline.presets import PRESETS, with_preset
from pipeline.settings_file import known_keys
from tests.pipeline.test_config import add, faults_of

CONFIGS = Path(__file__).parents[2] / "configs"
OF_MEAN = {
    "model.stem_embeddings": True,
    "model.word_dropout": 0.25,
    "training.epochs": None,
    "training.learning_rate": 0.02,
    "training.learning_rate_end": 0.05,
}
BEST = {
    "preset": "best",
    "lexicon.kind": "lexicon",
    "lexicon.weight": 0.5,
    "model.embedding_dim": 128,
    "loss.in_batch": True,
    "loss.softmax_weight": 0,
    "training.negatives_from": "judged",
    **OF_MEAN,
}


def setting(config: object, key: str) -> Any:
    """The value of a dotted key."""
    return reduce(getattr, key.split("."), config)


# What a preset gives


POLYNOMIAL = {
    "lexicon.kind": "lexicon",
    "lexicon.weight": "fitted",
    "model.encoder": "polynomial",
    "model.terms": "stems",
    "model.start": "lexicon",
    "model.embedding_dim": 300,
    "model.similarity": "dot",
    "loss.name": "pairwise_hinge",
    "training.epochs": 8,
    "training.learning_rate": 0.002,
}


@pytest.mark.parametrize(
    ("given", "others"),
    [
        ({}, {}),
        ({"lexicon.kind": "none"}, {"model.start": "random"}),
        ({"model.terms": "words"}, {"model.start": "random"}),
        (
            {"model.encoder": "mean"},
            {
                **dict.fromkeys(POLYNOMIAL, None),
                "lexicon.kind": "lexicon",
                "lexicon.weight": "fitted",
                "model.terms": "words",
                "model.start": "random",
                "model.embedding_dim": 64,
                "model.similarity": "smooth_cosine",
                "loss.name": "sosl",
                "training.epochs": 30,
                "training.learning_rate": 0.1,
            },
        ),
    ],
)
def test_polynomial_semantic_indexing_gives_what_its_encoder_its_terms_and_the_lexicon_allow(
    config_file: Path, given: dict[str, Any], others: dict[str, Any]
) -> None:
    config = load_config(str(config_file), ["preset=polynomial", *(f"{key}={one}" for key, one in given.items())])
    assert {key: setting(config, key) for key in POLYNOMIAL} == {**POLYNOMIAL, **others, **given}


def test_paper_is_every_setting_s_own_default(config_file: Path) -> None:
    config = load_config(str(config_file), ["preset=paper"])
    assert (config.model, config.loss, config.lexicon) == (ModelSettings(), LossSettings(), LexiconSettings())
    assert config.training == TrainingSettings().for_model(ModelSettings())


def test_a_configuration_that_names_no_preset_has_the_best(config_file: Path) -> None:
    config = load_config(str(config_file))
    assert {key: setting(config, key) for key in BEST} == BEST


def test_closed_is_best_with_a_softmax_term_and_a_fitted_weight(config_file: Path) -> None:
    best, closed = (load_config(str(config_file), [f"preset={preset}"]) for preset in ("best", "closed"))
    differ = [key for key in known_keys(RunConfig) if setting(best, key) != setting(closed, key)]
    assert differ == ["preset", "lexicon.weight", "loss.softmax_weight"]
    assert closed.loss.softmax_weight > 0


OF_SCORERS = {"cossim": "worst_hinge", "duet_distributed": "log_likelihood"}
"""Presets of rankers without encoders, and the loss of each."""


@pytest.mark.parametrize(("preset", "loss"), OF_SCORERS.items())
def test_the_rankers_of_cohen_et_al_are_trained_as_published(config_file: Path, preset: str, loss: str) -> None:
    config = load_config(str(config_file), [f"preset={preset}"])
    own = SCORERS[preset]
    assert (config.model.scorer, config.loss.name, config.training.objective) == (preset, loss, "drawn")
    assert config.model == ModelSettings(scorer=preset)
    assert (config.lexicon.kind, config.training.learning_rate) == ("none", own.default_learning_rate)
    assert load_config(str(config_file), [f"preset={preset}", "training.objective=lists"]).training.objective == "lists"


@pytest.mark.parametrize("preset", ["best", "closed"])
def test_a_scorer_without_encoders_has_nothing_of_the_towers_in_a_preset(config_file: Path, preset: str) -> None:
    config = load_config(str(config_file), [f"preset={preset}", "model.scorer=cossim"])
    assert config.model == ModelSettings(scorer="cossim", embedding_dim=128)
    assert (config.training.learning_rate, config.training.learning_rate_end) == (0.001, None)
    assert config.loss.in_batch
    (fault,) = faults_of(config_file, "preset=closed", "model.scorer=duet_distributed")
    assert (
        "must not be in_batch with model.scorer duet_distributed, whose score is no inner product of vectors" in fault
    )
    best = load_config(str(config_file), ["preset=best", "model.scorer=duet_distributed"])
    assert not best.loss.in_batch


def test_tables_of_words_may_be_frozen_where_there_is_more_to_train(config_file: Path) -> None:
    (config_file.parent / "64.vec").write_text("loup" + 64 * " 1" + "\n")
    tables = [f"embeddings.{side}={config_file.parent / '64.vec'}" for side in ("query", "document")]
    assert not load_config(str(config_file), ["preset=cossim", "embeddings.train=false", *tables]).embeddings.train


def test_an_index_of_a_score_that_is_no_inner_product_is_refused(config_file: Path) -> None:
    (fault,) = faults_of(config_file, "preset=duet_distributed", "search.index=true")
    assert "no index can search this score: the score of duet_distributed is no inner product; got true" in fault
    assert load_config(str(config_file), ["preset=cossim", "search.index=true"]).search.index


@pytest.mark.parametrize("encoder", sorted(ENCODERS.keys() - {"mean"}))
def test_other_encoders_keep_what_is_their_own(config_file: Path, encoder: str) -> None:
    best, paper = (
        load_config(str(config_file), [f"preset={preset}", f"model.encoder={encoder}"]) for preset in ("best", "paper")
    )
    own = {*OF_MEAN, "model.dropout", "training.learning_rate_decay", "training.embedding_factor"}
    assert {key: setting(best, key) for key in own} == {key: setting(paper, key) for key in own}
    rest = BEST.keys() - OF_MEAN.keys()
    assert {key: setting(best, key) for key in rest} == {key: BEST[key] for key in rest}


@pytest.mark.parametrize("loss", LOSSES)
def test_documents_of_other_lists_are_for_losses_with_thresholds(config_file: Path, loss: str) -> None:
    config = load_config(str(config_file), [f"loss.name={loss}"])
    assert config.loss.in_batch == (config.loss.theta is not None)


def test_the_weight_beside_an_inner_product_is_fitted(config_file: Path) -> None:
    weights = {
        similarity: load_config(str(config_file), [f"model.similarity={similarity}"]).lexicon.weight
        for similarity in ("smooth_cosine", "cosine", "dot")
    }
    assert weights == {"smooth_cosine": 0.5, "cosine": 0.5, "dot": "fitted"}
    assert load_config(str(config_file), ["model.similarity=dot", "preset=paper"]).lexicon.weight == 0.5


@pytest.mark.parametrize("side", ["query", "document"])
def test_a_table_of_word_vectors_has_a_width_of_its_own(config_file: Path, side: str) -> None:
    (config_file.parent / "64.vec").write_text("loup" + 64 * " 1" + "\n")
    (config_file.parent / "3.vec").write_text("loup 1 1 1\n")
    wide, narrow = (f"embeddings.{side}={config_file.parent / name}" for name in ("64.vec", "3.vec"))
    assert load_config(str(config_file), [wide]).model.embedding_dim == 64
    (fault,) = faults_of(config_file, narrow)
    assert "model.embedding_dim" in fault and "64" in fault
    assert load_config(str(config_file), [narrow, "model.embedding_dim=3"]).model.embedding_dim == 3
    assert load_config(str(config_file), [f"embeddings.{side}=null"]).model.embedding_dim == 128


@pytest.mark.parametrize(("preset", "key"), [(name, key) for name, preset in PRESETS.items() for key in preset])
def test_a_preset_decides_settings_of_a_run_after_those_that_its_conditions_ask_for(preset: str, key: str) -> None:
    assert key in known_keys(RunConfig)
    # Rows of an experiment with the same data are compared, whatever their presets.
    assert not key.startswith("data.")
    _, where = PRESETS[preset][key]
    decided = [*PRESETS[preset]]
    not_yet = decided[decided.index(key) :]
    assert not where or where.settings.keys() <= {*known_keys(RunConfig)} - {*not_yet}


# What overrides it


def test_a_given_key_overrides_the_preset_and_leaves_the_others(config_file: Path) -> None:
    add(config_file, "preset: closed\nmodel: {word_dropout: 0}\ntraining:\n  # epochs: 3\n")
    config = load_config(str(config_file), ["loss.softmax_weight=0.5"])
    assert (config.model.word_dropout, config.model.embedding_dim) == (0, 128)
    assert (config.loss.softmax_weight, config.loss.in_batch) == (0.5, True)
    assert (config.training.epochs, config.training.learning_rate) == (None, 0.02)


def test_a_null_is_given(config_file: Path) -> None:
    nulls = ["training.learning_rate=null", "training.learning_rate_end=null"]
    config = load_config(str(config_file), nulls)
    assert config.training.learning_rate == ENCODERS["mean"].default_learning_rate
    assert config.training.learning_rate_end is None
    assert load_config(str(config_file), ["preset=paper", "training.epochs=null"]).training.epochs is None


def test_an_override_chooses_the_preset(config_file: Path) -> None:
    paper = load_config(str(config_file), ["preset=paper"])
    add(config_file, "preset: closed\n")
    assert load_config(str(config_file), ["preset=paper"]) == paper
    assert load_config(str(config_file), ["preset=paper"]).model == ModelSettings()


def test_a_section_that_is_built_is_given_whole(config_file: Path) -> None:
    data = SourceSettings(queries="q", documents="d", judgments="j", query_language="en", document_language="fr")
    config = RunConfig(data=data, model=ModelSettings(encoder="cnn"), output="out")
    assert config.model == ModelSettings(encoder="cnn")
    assert config.training.learning_rate == ENCODERS["cnn"].default_learning_rate
    assert config.lexicon.kind == "lexicon"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.sampled_from(sorted(PRESETS)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(
    content=st.dictionaries(
        st.sampled_from(sorted(RunConfig.model_fields)),
        st.dictionaries(st.sampled_from(["encoder", "name", "query", "similarity", "sha256"]), JSON) | JSON,
    )
)
def test_whatever_is_given_stays_and_a_second_time_changes_nothing(content: dict[str, Any]) -> None:
    before = repr(content)
    merged = with_preset(content, RunConfig)
    assert repr(content) == before
    assert repr(with_preset(merged, RunConfig)) == repr(merged)
    for section, values in content.items():
        if isinstance(values, dict):
            assert {key: repr(merged[section][key]) for key in values} == {key: repr(values[key]) for key in values}
        else:
            assert merged[section] is values


# The resolved configuration


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    preset=st.sampled_from(sorted(PRESETS)),
    encoder=st.sampled_from(sorted(ENCODERS)),
    loss=st.sampled_from(sorted(LOSSES)),
    similarity=st.sampled_from(["smooth_cosine", "cosine", "dot"]),
    given=st.lists(
        st.sampled_from(
            ["training.epochs=null", "training.epochs=4", "model.embedding_dim=8", "training.learning_rate=null",
             "training.learning_rate_end=null", "lexicon.kind=none", "lexicon.weight=fitted", "lexicon.weight=0.25",
             "training.negatives_from=all"]
        )
    ),
)  # fmt: skip
@pytest.mark.stages
def test_the_resolved_configuration_of_a_preset_loads_to_the_same(
    config_file: Path, preset: str, encoder: str, loss: str, similarity: str, given: list[str]
) -> None:
    choices = [f"preset={preset}", f"loss.name={loss}"]
    if preset not in OF_SCORERS:
        choices += [f"model.encoder={encoder}", f"model.similarity={similarity}"]
    resolved = resolve_digests(load_config(str(config_file), [*choices, *given]))
    second = config_file.with_name("resolved.yaml")
    second.write_text(dump_config(resolved))
    assert next(iter(yaml.safe_load(second.read_text()).items())) == ("preset", preset)
    assert resolve_digests(load_config(str(second))) == resolved


@pytest.mark.parametrize("preset", [None, "best"])
def test_a_resolved_file_without_a_preset_is_refused(config_file: Path, preset: str | None) -> None:
    content = yaml.safe_load(dump_config(resolve_digests(load_config(str(config_file), ["preset=paper"]))))
    del content["preset"], content["lexicon"]
    path = config_file.with_name("config.yaml")
    path.write_text(yaml.safe_dump(content))
    if preset:
        assert load_config(str(path), [f"preset={preset}"]).lexicon.kind == "lexicon"
    else:
        (fault,) = faults_of(path)
        assert fault.startswith(f"{path}: preset: must be given in a resolved configuration")


def test_a_digest_that_is_given_by_hand_needs_no_preset(config_file: Path) -> None:
    assert load_config(str(config_file), [f"data.sha256.queries={'a5' * 32}"]).preset == "best"


# Faults


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        (
            "preset: besst\n",
            ":8: preset: ",
            "must be one of paper, best, closed, polynomial, cossim, duet_distributed; got 'besst'; did you mean best?",
        ),
        ("preset: [best]\n", ":8: preset: ", "must be a valid string; got ['best']"),
        ("preset: {best: 1}\n", ":8: preset: ", "must be a valid string; got {'best': 1}"),
        ("preset: yes\n", ":8: preset: ", "must not be a truth value"),
        ("presets: best\n", ":8: presets: ", "unknown key; did you mean preset?"),
        ("preset: closed\nloss: 3\n", ":9: loss: ", "got 3"),
        ("model: [cnn]\n", ":8: model: ", "got ['cnn']"),
        ("model: {encoder: [mean]}\n", ":8: model.encoder: ", "got ['mean']"),
        ("loss: {name: sols}\n", ":8: loss.name: ", "did you mean sosl?"),
    ],
)
def test_a_fault_is_reported_once_and_as_given(config_file: Path, lines: str, place: str, words: str) -> None:
    add(config_file, lines)
    (fault,) = faults_of(config_file)
    assert fault.startswith(f"{config_file}{place}") and words in fault


def test_a_null_preset_is_a_fault_on_the_command_line_and_an_empty_line_in_a_file(config_file: Path) -> None:
    (fault,) = faults_of(config_file, "preset=null")
    assert fault == "--set preset=null: preset: must be a valid string; got None"
    add(config_file, "preset:\n")
    assert load_config(str(config_file)).preset == "best"


# The project's own configurations


@pytest.mark.parametrize("file", sorted((CONFIGS / "best").glob("*.yaml")), ids=lambda file: file.stem)
def test_the_best_of_a_collection_stands_beside_the_papers(file: Path) -> None:
    paper, best = (yaml.safe_load(path.read_text()) for path in (CONFIGS / file.name, file))
    assert (paper["preset"], best["preset"]) == ("paper", "best")
    for content, path in ((paper, CONFIGS / file.name), (best, file)):
        assert f"clir run {path.relative_to(CONFIGS.parent)}" in path.read_text()
        assert path.parent.joinpath(content["output"]).resolve().relative_to(CONFIGS.parent / "runs")
        for role in ("queries", "documents", "judgments", "candidates"):
            content["data"][role] = path.parent.joinpath(content["data"][role]).resolve()
    assert best["data"] == paper["data"]


def test_every_collection_has_both() -> None:
    collections = {file.name for file in CONFIGS.glob("*_*_*.yaml")}
    assert collections == {file.name for file in (CONFIGS / "best").glob("*.yaml")}
    assert len(collections) >= 6


def test_another_preset_over_a_resolved_file_is_refused_for_it_would_change_its_name_alone(
    config_file: Path, tmp_path: Path
) -> None:
    resolved = tmp_path / "config.yaml"
    resolved.write_text(dump_config(load_config(str(config_file), ["preset=closed"])))
    assert load_config(str(resolved), ["preset=closed"]).preset == "closed"
    (fault,) = faults_of(resolved, "preset=paper")
    assert fault.startswith("--set preset=paper: preset: must stay as it is where the file gives every key")
    (fault,) = faults_of(resolved, "preset=papr")
    assert "did you mean paper?" in fault
