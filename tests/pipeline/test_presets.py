"""pipeline/presets.py: what a preset gives, what overrides it, and what has none."""

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from models.channels import ChannelsSettings
from models.layers.settings import TextEncoderSettings
from models.lexicon.settings import LexiconSettings
from models.losses.settings import LossSettings, SoslSettings
from models.rankers.settings import ScorerSettings, TwoTowersSettings
from models.training.settings import TrainingSettings
from pipeline.config import RunConfig, SourceSettings
from pipeline.config_file import dump_config, load_config
from pipeline.input_files import resolve_digests
from pipeline.presets import PRESETS, with_preset
from pipeline.settings_file import known_keys
from tests.pipeline.test_config import add, faults_of

CONFIGS = Path(__file__).parents[2] / "configs"


def values(config_file: Path, keys: Any, *overrides: str) -> dict[str, Any]:
    """Some settings of a configuration with these overrides; None where their section has none of the name."""
    config = load_config(str(config_file), overrides)
    return {key: reduce(lambda section, name: getattr(section, name, None), key.split("."), config) for key in keys}


PAPER = {
    "data.top_grade": 2, "data.negatives": 40, "data.max_document_tokens": 200, "data.vocabulary_size": 100_000,
    "channels.towers.kind": "two_towers", "channels.towers.embedding_dim": 64, "channels.towers.epsilon": 1.0,
    "channels.towers.similarity": "smooth_cosine", "channels.towers.encoder.kind": "mean",
    "channels.towers.encoder.dropout": 0.0, "channels.lexicon": None, "channels.encoder": None,
    "loss.kind": "sosl", "loss.theta": (0.2, 0.7), "training.epochs": 30, "training.learning_rate": 0.1,
    "training.learning_rate_decay": 1.0, "evaluation.minimums": None,
}  # fmt: skip
MEAN = {
    "channels.towers.encoder.stem_embeddings": True, "channels.towers.encoder.word_dropout": 0.25,
    "training.epochs": None, "training.learning_rate": 0.02, "training.learning_rate_end": 0.05,
}  # fmt: skip
BEST = {
    "preset": "best", "channels.lexicon.kind": "lexicon", "channels.lexicon.weight": 0.5,
    "channels.towers.embedding_dim": 128,
    "loss.in_batch": True, "loss.softmax_weight": 0, "training.negatives_from": "judged",
    "feedback.gain": "fitted", "feedback.documents": "fitted", **MEAN,
}  # fmt: skip
POLYNOMIAL = {
    "channels.lexicon.kind": "lexicon", "channels.lexicon.weight": "fitted",
    "channels.towers.encoder.kind": "polynomial", "channels.towers.encoder.terms": "stems",
    "channels.towers.encoder.start": "lexicon", "channels.towers.embedding_dim": 300,
    "channels.towers.similarity": "dot", "loss.kind": "pairwise_hinge", "training.epochs": 8,
    "training.learning_rate": 0.002,
}  # fmt: skip


# What a preset gives


def test_paper_is_every_setting_s_own_default(config_file: Path) -> None:
    assert values(config_file, PAPER, "preset=paper") == PAPER
    config = load_config(str(config_file), ["preset=paper"])
    assert (config.channels, config.loss) == (ChannelsSettings(), SoslSettings(theta=(0.2, 0.7)))
    assert config.training == TrainingSettings().for_towers(TwoTowersSettings())


def test_a_configuration_that_names_no_preset_has_the_best(config_file: Path) -> None:
    assert values(config_file, BEST) == BEST


def test_closed_is_best_with_a_softmax_term_and_a_fitted_weight(config_file: Path) -> None:
    best, closed = (values(config_file, known_keys(RunConfig), f"preset={preset}") for preset in ("best", "closed"))
    differing = {"preset", "channels.lexicon.weight", "channels.towers.weight", "loss.softmax_weight"}
    sections = {"channels.lexicon", "channels.towers", "loss"}
    assert {key for key in best if best[key] != closed[key]} == sections | differing
    assert closed["loss.softmax_weight"] > 0


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, {}),
        (
            {"channels.lexicon": None},
            {"channels.towers.encoder.start": "random", "channels.lexicon.kind": None, "channels.lexicon.weight": None},
        ),
        ({"channels.towers.encoder.terms": "words"}, {"channels.towers.encoder.start": "random"}),
        (
            {"channels.towers.encoder.kind": "mean"},
            {
                **{key: PAPER.get(key) for key in POLYNOMIAL},
                "channels.lexicon.kind": "lexicon",
                "channels.lexicon.weight": "fitted",
            },
        ),
    ],
)
def test_polynomial_gives_what_its_encoder_its_terms_and_the_lexicon_allow(
    config_file: Path, chosen: dict[str, Any], expected: dict[str, Any]
) -> None:
    overrides = [f"{key}={json.dumps(value)}" for key, value in chosen.items()]
    expected = {**POLYNOMIAL, **expected, **chosen}
    assert values(config_file, expected, "preset=polynomial", *overrides) == expected


@pytest.mark.parametrize(("preset", "loss"), [("cossim", "worst_hinge"), ("duet_distributed", "log_likelihood")])
def test_the_rankers_of_cohen_et_al_are_trained_as_published(config_file: Path, preset: str, loss: str) -> None:
    config = load_config(str(config_file), [f"preset={preset}"])
    towers = ScorerSettings.model_validate(preset)
    assert config.channels == ChannelsSettings(towers=towers)
    assert (config.loss.kind, config.training.objective.kind) == (loss, "drawn")
    assert config.training.learning_rate == towers.training_defaults().learning_rate


@pytest.mark.parametrize(("scorer", "in_batch"), [("cossim", True), ("duet_distributed", False)])
def test_a_scorer_without_encoders_has_nothing_of_the_towers_in_best(
    config_file: Path, scorer: str, in_batch: bool
) -> None:
    config = load_config(str(config_file), [f"channels.towers.kind={scorer}"])
    expected = {"kind": scorer, "embedding_dim": 128, "weight": "fitted"}
    assert config.channels.towers == ScorerSettings.model_validate(expected)
    assert (config.training.learning_rate, config.training.learning_rate_end) == (0.001, None)
    assert config.loss.takes_batch == in_batch


@pytest.mark.parametrize("encoder", sorted(TextEncoderSettings.kinds.keys() - {"mean"}))
def test_other_encoders_keep_what_is_their_own(config_file: Path, encoder: str) -> None:
    own = {*MEAN, "channels.towers.encoder.dropout", "training.learning_rate_decay", "training.embedding_factor"}
    best, paper = (
        values(config_file, own, f"preset={preset}", f"channels.towers.encoder={encoder}")
        for preset in ("best", "paper")
    )
    assert best == paper
    best_only = BEST.keys() - MEAN.keys()
    assert values(config_file, best_only, f"channels.towers.encoder={encoder}") == {key: BEST[key] for key in best_only}


@pytest.mark.parametrize("loss", LossSettings.kinds)
def test_documents_of_other_lists_are_for_losses_with_thresholds(config_file: Path, loss: str) -> None:
    config = load_config(str(config_file), [f"loss.kind={loss}"])
    assert config.loss.takes_batch == (config.loss.thresholds is not None)


@pytest.mark.parametrize(("similarity", "weight"), [("smooth_cosine", 0.5), ("cosine", 0.5), ("dot", "fitted")])
def test_the_weight_beside_an_inner_product_is_fitted(config_file: Path, similarity: str, weight: object) -> None:
    overrides = [f"channels.towers.similarity={similarity}"]
    assert load_config(str(config_file), overrides).channels.lexicon.weight == weight
    overrides += ["preset=paper", "channels.lexicon=lexicon"]
    assert load_config(str(config_file), overrides).channels.lexicon.weight == 0.5


@pytest.mark.parametrize(
    ("overrides", "gain", "documents"),
    [
        (["channels.lexicon=null"], 0, 2),
        (["channels.towers.kind=duet_distributed"], 0, 2),
        (["channels={topics: {kind: cl_lsi}}"], "fitted", "fitted"),
        (["feedback.gain=12"], 12, 2),
        (["feedback.gain=0"], 0, 2),
        (["feedback.documents=5"], "fitted", 5),
    ],
)
def test_a_second_pass_is_fitted_where_there_can_be_one_and_no_gain_is_given(
    config_file: Path, overrides: list[str], gain: object, documents: object
) -> None:
    feedback = load_config(str(config_file), overrides).feedback
    assert (feedback.gain, feedback.documents) == (gain, documents)


@pytest.mark.parametrize("side", ["query", "document"])
def test_a_table_of_word_vectors_has_a_width_of_its_own(config_file: Path, side: str) -> None:
    for width in (64, 3):
        (config_file.parent / f"{width}.vec").write_text(f"loup{width * ' 1'}\n")
    wide, narrow = (f"embeddings.{side}={config_file.parent / name}" for name in ("64.vec", "3.vec"))
    assert load_config(str(config_file), [wide]).channels.towers.embedding_dim == 64
    (fault,) = faults_of(config_file, narrow)
    assert "channels.towers.embedding_dim" in fault and "64" in fault
    assert load_config(str(config_file), [narrow, "channels.towers.embedding_dim=3"]).channels.towers.embedding_dim == 3
    assert load_config(str(config_file), [f"embeddings.{side}=null"]).channels.towers.embedding_dim == 128


@pytest.mark.parametrize(("preset", "key"), [(name, key) for name, preset in PRESETS.items() for key in preset])
def test_a_preset_decides_settings_of_a_run_after_those_that_its_conditions_ask_for(preset: str, key: str) -> None:
    assert key in known_keys(RunConfig)
    # Rows of an experiment with the same data are compared, whatever their presets.
    assert not key.startswith("data.")
    _, where = PRESETS[preset][key]
    decided = [*PRESETS[preset]]
    assert not where or not where.settings.keys() & {*decided[decided.index(key) :]}


# What overrides it


def test_a_given_key_and_a_null_override_the_preset_and_leave_the_others(config_file: Path) -> None:
    add(config_file, "preset: closed\nchannels: {towers: {encoder: {word_dropout: 0}}}\ntraining:\n  # epochs: 3\n")
    overrides = ["loss.softmax_weight=0.5", "training.learning_rate=null", "training.learning_rate_end=null"]
    config = load_config(str(config_file), overrides)
    towers = config.channels.towers
    assert (towers.encoder.word_dropout, towers.embedding_dim) == (0, 128)
    assert (config.loss.softmax_weight, config.loss.in_batch, config.training.epochs) == (0.5, True, None)
    assert (config.training.learning_rate, config.training.learning_rate_end) == (0.1, None)
    paper = load_config(str(config_file), ["preset=paper", "training.epochs=null"])
    assert (paper.channels.towers, paper.training.epochs) == (TwoTowersSettings(), None)


@pytest.mark.parametrize("preset", ["best", "closed", "polynomial"])
def test_a_null_channel_stays_away_from_a_preset_that_gives_it_until_a_key_of_it_is_given(
    config_file: Path, preset: str
) -> None:
    whole = load_config(str(config_file), [f"preset={preset}"])
    assert whole.channels.lexicon
    add(config_file, f"preset: {preset}\nchannels: {{lexicon: null}}\n")
    without = load_config(str(config_file))
    assert without.channels.lexicon is None and without.feedback.gain == 0
    assert without.loss == whole.loss and without.training == whole.training
    config_file.with_name("resolved.yaml").write_text(dump_config(without))
    assert load_config(str(config_file.with_name("resolved.yaml"))) == without
    weighed = load_config(str(config_file), ["channels.lexicon.weight=2"])
    assert weighed.channels.lexicon == LexiconSettings(weight=2)


def test_a_section_that_is_built_is_given_whole() -> None:
    data = SourceSettings(queries="q", documents="d", judgments="j", query_language="en", document_language="fr")
    channels = ChannelsSettings(towers=TwoTowersSettings.with_encoder("cnn"))
    config = RunConfig(data=data, channels=channels, output="out")
    assert (config.channels, config.feedback.gain) == (channels, 0)
    assert config.training.learning_rate == 0.001


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.sampled_from(sorted(PRESETS)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(
    content=st.dictionaries(
        st.sampled_from(sorted(RunConfig.model_fields)),
        st.dictionaries(st.sampled_from(["kind", "towers", "lexicon", "query", "sha256"]), JSON) | JSON,
    )
)
def test_whatever_is_given_stays_and_a_second_time_changes_nothing(content: dict[str, Any]) -> None:
    before = repr(content)
    merged = with_preset(content, RunConfig)
    assert repr(content) == before
    assert repr(with_preset(merged, RunConfig)) == repr(merged)
    for section, chosen in content.items():
        if isinstance(chosen, dict):
            assert {key: repr(merged[section][key]) for key in chosen} == {
                key: repr(value) for key, value in chosen.items()
            }
        else:
            assert merged[section] is chosen


# A resolved configuration


def test_a_resolved_file_must_name_its_preset_and_keeps_it(config_file: Path) -> None:
    path = config_file.with_name("config.yaml")
    text = dump_config(resolve_digests(load_config(str(config_file), ["preset=closed"])))
    path.write_text(text)
    assert load_config(str(path), ["preset=closed"]).preset == "closed"
    (fault,) = faults_of(path, "preset=paper")
    assert fault.startswith("--set preset=paper: preset: ")
    (fault,) = faults_of(path, "preset=papr")
    assert fault.endswith("did you mean paper?")
    content = yaml.safe_load(text)
    del content["preset"], content["channels"]["lexicon"]
    path.write_text(yaml.safe_dump(content))
    (fault,) = faults_of(path)
    assert fault.startswith(f"{path}: preset: ") and ", ".join(PRESETS) in fault
    assert load_config(str(path), ["preset=best"]).channels.lexicon.kind == "lexicon"
    assert load_config(str(config_file), [f"data.sha256.queries={'a5' * 32}"]).preset == "best"


# The project's own configurations


def test_the_best_of_a_collection_stands_beside_the_papers() -> None:
    files = sorted((CONFIGS / "best").glob("*.yaml"))
    assert [file.name for file in files] == sorted(file.name for file in CONFIGS.glob("*_*_*.yaml"))
    for file in files:
        paper, best = (yaml.safe_load(path.read_text()) for path in (CONFIGS / file.name, file))
        assert (paper["preset"], best["preset"]) == ("paper", "best")
        for content, path in ((paper, CONFIGS / file.name), (best, file)):
            assert f"clir run {path.relative_to(CONFIGS.parent)}" in path.read_text()
            assert path.parent.joinpath(content["output"]).resolve().relative_to(CONFIGS.parent / "runs")
            for role in ("queries", "documents", "judgments", "candidates"):
                content["data"][role] = path.parent.joinpath(content["data"][role]).resolve()
        assert best["data"] == paper["data"]
