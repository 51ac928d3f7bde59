"""pipeline/config.py: what a configuration may hold, and what each fault says."""

import hashlib
import os
import time
import tracemalloc
from functools import reduce
from pathlib import Path

import pydantic
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.choices import ENCODERS
from models.evaluation.metrics import METRICS
from models.losses.declarations import LOSSES
from pipeline.config import RunConfig, dump_config, load_config
from pipeline.input_files import files_of, resolve_digests
from pipeline.settings_file import known_keys
from schemas.byte_streams import input_digest
from schemas.errors import ConfigError
from tests.bad_input.spoil import ALIASES, ALIASES_IN_A_LINE

DEFAULTS = {
    "data.top_grade": 2,
    "data.candidates": None,
    "data.negatives": 40,
    "data.max_document_tokens": 200,
    "model.vocabulary_size": 100_000,
    "model.embedding_dim": 64,
    "model.encoder": "mean",
    "model.dropout": 0.0,
    "model.epsilon": 1.0,
    "loss.name": "sosl",
    "loss.theta": (0.2, 0.7),
    "training.learning_rate": 0.1,
    "training.learning_rate_decay": 1.0,
    "evaluation.minimums": None,
}
THRESHOLDS = st.floats(-1, 1, exclude_min=True, exclude_max=True)
OTHER_KEYS = """
    data.queries data.documents data.judgments data.seed data.query_language data.document_language
    training.epochs training.batch_lists training.seed output
""".split()


def faults_of(config_file: Path, *overrides: str) -> list[str]:
    """The faults of a configuration that must not load."""
    with pytest.raises(ConfigError) as error:
        load_config(str(config_file), overrides)
    return list(error.value.faults)


def add(config_file: Path, text: str) -> None:
    """Adds lines, from the eighth on."""
    config_file.write_text(config_file.read_text() + text)


def replace(config_file: Path, old: str, new: str) -> None:
    """Replaces a text that stands in the configuration."""
    assert old in config_file.read_text()
    config_file.write_text(config_file.read_text().replace(old, new))


def test_the_promised_keys_exist() -> None:
    assert {*DEFAULTS, *OTHER_KEYS} <= set(known_keys(RunConfig))


@pytest.mark.parametrize(("key", "default"), DEFAULTS.items())
def test_what_is_not_given_is_the_papers_in_that_preset(config_file: Path, key: str, default: object) -> None:
    assert reduce(getattr, key.split("."), load_config(str(config_file), ["preset=paper"])) == default


def test_a_given_setting_is_read(config_file: Path) -> None:
    add(config_file, "training:\n  epochs: 7\n  learning_rate: 1e-3\nevaluation:\n  minimums: {ndcg_5: 0.5}\n")
    config = load_config(str(config_file))
    assert (config.training.epochs, config.training.learning_rate) == (7, 0.001)
    assert config.evaluation.minimums == {"ndcg_5": 0.5}


def test_the_resolved_configuration_holds_the_encoders_own_values(config_file: Path) -> None:
    add(config_file, "model: {encoder: cnn}\ntraining: {learning_rate: 0.5}\n")
    resolved = yaml.safe_load(dump_config(load_config(str(config_file))))
    assert resolved["model"]["dropout"] == ENCODERS["cnn"].default_dropout
    assert resolved["training"]["learning_rate"] == 0.5
    assert resolved["training"]["learning_rate_decay"] == ENCODERS["cnn"].default_learning_rate_decay


def test_a_configuration_is_frozen(config_file: Path) -> None:
    config = load_config(str(config_file))
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        config.output = "elsewhere"
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        config.training.epochs = 3


# Paths


def test_relative_paths_are_relative_to_the_file(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    config = load_config(os.path.relpath(config_file))
    assert config.data.queries == str(config_file.parent.resolve() / "wiki.queries")
    assert config.output == str(config_file.parent.resolve() / "out")


def test_relative_paths_in_overrides_are_relative_to_the_current_folder(
    config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = config_file.parent / "here"
    here.mkdir()
    (here / "other.rel").write_text("q1\td2\t2\n")
    monkeypatch.chdir(here)
    config = load_config(str(config_file), ["data.judgments=other.rel", "output=../there"])
    assert config.data.judgments == str(here.resolve() / "other.rel")
    assert config.output == str(config_file.parent.resolve() / "there")


def test_word_vectors_are_files_like_the_others(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    (config_file.parent / "fr.vec").write_text("loup 1 2\n")
    add(config_file, "model: {embedding_dim: 2}\nembeddings: {document: fr.vec}\n")
    config = resolve_digests(load_config(str(config_file)))
    assert config.embeddings.inputs() == {"document": str(config_file.parent.resolve() / "fr.vec")}
    assert config.embeddings.sha256.document == hashlib.sha256(b"loup 1 2\n").hexdigest()
    assert config.embeddings.sha256.query is None


def test_faults_of_word_vectors_are_reported_with_all_others(config_file: Path) -> None:
    (config_file.parent / "fr.vec").write_text("1 3\nloup 1 2 3\n")
    add(config_file, "model: {embedding_dim: 2, epsilon: -1}\nembeddings: {document: fr.vec, query: en.vec}\n")
    faults = faults_of(config_file)
    assert [fault.split(": ")[1] for fault in faults] == ["model.epsilon", "embeddings.query", "embeddings.document"]
    assert "its have 3" in faults[2]


@pytest.mark.parametrize("dim", [0, -1, 10**30, "x"])
def test_an_impossible_width_is_the_only_fault(config_file: Path, dim: object) -> None:
    (config_file.parent / "fr.vec").write_text("loup 1 2\n")
    add(config_file, f"model: {{embedding_dim: {dim}}}\nembeddings: {{document: fr.vec}}\n")
    (fault,) = faults_of(config_file)
    assert ":8: model.embedding_dim: " in fault


@pytest.mark.parametrize("lines", ["embeddings: 3\n", "embeddings: {query: 3}\n", "embeddings: {query: ''}\n"])
def test_a_path_of_word_vectors_that_is_none_is_a_fault(config_file: Path, lines: str) -> None:
    add(config_file, lines)
    (fault,) = faults_of(config_file)
    assert ":8: embeddings" in fault


# Faults, each with its place


@pytest.mark.parametrize(
    ("lines", "place_and_key", "words"),
    [
        ("zzz: 3\n", ":8: zzz: ", "known: preset, data.queries, "),
        ("ouput:\n", ":8: ouput: ", "unknown key; did you mean output?"),
        ("training: {epochs: 3,\n  epochs: 4}\n", ":9: training.epochs: ", "given twice; first at {file}:8"),
        ("training:\n  epochs: 3.5\n", ":9: training.epochs: ", "got 3.5"),
        ("training:\n  epochs: true\n", ":9: training.epochs: ", "got True"),
        ("training: 3\n", ":8: training: ", "got 3"),
        ("training:\n  seed: 010\n", ":9: ", "no leading zero and no colon"),
        ("training:\n  epochs: 1:30\n", ":9: ", "got '1:30'"),
        ("loss:\n  softmax_weight: 1:30.5\n", ":9: ", "got '1:30.5'"),
        ("loss:\n  theta: [0.2, -0_7]\n", ":9: ", "got '-0_7'"),
        ("model:\n  epsilon: .nan\n", ":9: model.epsilon: ", "got nan"),
        (
            "model:\n  encoder: cnnn\n",
            ":9: model.encoder: ",
            "mean, cnn, lstm, polynomial; got 'cnnn'; did you mean cnn?",
        ),
        (
            "loss:\n  name: hinge\n",
            ":9: loss.name: ",
            "; got 'hinge'; did you mean worst_hinge?",
        ),
        ("loss:\n  theta: [0.2, 0.2]\n", ":9: loss.theta: ", "increase strictly within (-1, 1); got [0.2, 0.2]"),
        ("loss:\n  theta: [0.2]\n", ":8: loss: ", "as data.top_grade for sosl; got [0.2] and data.top_grade 2"),
        ("loss:\n  name: softmax\n  theta: [0.2]\n", ":10: loss.theta: ", "must be null for softmax"),
        ("loss:\n  theta: 0.5\n", ":9: loss.theta: ", "got 0.5"),
        (
            "lexicon:\n  weight: -1\n",
            ":9: lexicon.weight: ",
            "must be a number from 0 to 1e12, fitted or held_out; got -1",
        ),
        ("lexicon:\n  kind: bm52\n", ":9: lexicon.kind: ", "'none'; got 'bm52'; did you mean bm25?"),
        (
            "preset: paper\nevaluation:\n  feedback: 4\n",
            ":9: evaluation: ",
            "feedback must be 0 where lexicon.kind is none",
        ),
        ("evaluation:\n  feedback: -1\n", ":9: evaluation.feedback: ", "got -1"),
        ("tuning:\n  theta: [[0.2]]\n", ":8: tuning: ", "theta must hold a space for each threshold of loss.theta"),
        ("tuning:\n  epsilon: {min: 2, max: 1}\n", ":9: tuning.epsilon: ", "min below max; got min 2.0 and max 1.0"),
        ("tuning:\n  theta:\n  - [0.2]\n  - {min: x}\n", ":11: tuning.theta.1.min: ", "got 'x'"),
        ("loss:\n  theta: [low]\n", ":9: loss.theta.0: ", "got 'low'"),
        ("1: x\n", ":8: 1: ", "got 1"),
        ("model: !!python/name:os.system\n", ":8: ", "must be YAML"),
        ("model: " + 2000 * "[\n ", ": ", "must be YAML: maximum recursion depth exceeded"),
    ],
)
def test_a_fault_names_its_place_its_key_and_what_came(
    config_file: Path, lines: str, place_and_key: str, words: str
) -> None:
    add(config_file, lines)
    (fault,) = faults_of(config_file)
    assert fault.startswith(f"{config_file}{place_and_key}")
    assert words.format(file=config_file) in fault


@pytest.mark.parametrize(
    ("old", "new", "place_and_key", "words"),
    [
        ("document_language: fr", "document_language: xx", ":6: data.document_language: ", "got 'xx'"),
        ("output: out", "output: 3", ":7: output: ", "got 3"),
        ("output: out", "output: ''", ":7: output: ", "must have at least 1 character; got ''"),
        ("output: out", "output: " + 300 * "x", ":7: output: ", "cannot: File name too long"),
        (
            "output: out",
            "output: ~nobody-of-this-name/../run.yaml",
            ":7: output: ",
            "must be a folder, but {folder}/run.yaml",
        ),
        ("  queries: wiki.queries\n", "", ":1: data.queries: ", "must be given"),
    ],
)
def test_a_fault_of_what_must_be_given_names_its_place(
    config_file: Path, old: str, new: str, place_and_key: str, words: str
) -> None:
    replace(config_file, old, new)
    (fault,) = faults_of(config_file)
    assert fault.startswith(f"{config_file}{place_and_key}")
    assert words.format(folder=config_file.parent) in fault


def test_all_faults_are_reported_at_once(config_file: Path) -> None:
    replace(config_file, "wiki.documents", "missing")
    replace(config_file, "query_language: en", "query_language: english")
    add(config_file, "training:\n  epochs: 0\n  epochs: x\n  seeds: 3\nouput: x\n")
    assert [fault.split(": ")[:2] for fault in sorted(faults_of(config_file, "epsilon", "model.epsilon=-1"))] == [
        ["--set epsilon", "must have the form section.key=value."],
        ["--set model.epsilon=-1", "model.epsilon"],
        [f"{config_file}:10", "training.epochs"],
        [f"{config_file}:10", "training.epochs"],
        [f"{config_file}:11", "training.seeds"],
        [f"{config_file}:12", "ouput"],
        [f"{config_file}:3", "data.documents"],
        [f"{config_file}:5", "data.query_language"],
    ]


def test_an_empty_section_keeps_its_defaults(config_file: Path) -> None:
    defaults = load_config(str(config_file))
    add(config_file, "training:\n  # epochs: 3\n")
    assert load_config(str(config_file)) == defaults
    assert load_config(str(config_file), ["training.epochs=3"]).training.epochs == 3


def test_an_alias_within_itself_is_a_fault(config_file: Path) -> None:
    add(config_file, "model: &model {loss: *model}\n")
    assert faults_of(config_file)


@pytest.mark.parametrize(("aliased", "refused"), [(100, False), (101, True)])
def test_aliases_may_stand_for_ten_thousand_values(config_file: Path, aliased: int, refused: bool) -> None:
    add(config_file, f"some: &some [{', '.join(99 * 'x')}]\nmore: [{', '.join(aliased * ['*some'])}]\n")
    is_refused = "aliases (*name) must stand for at most 10,000 values in all" in faults_of(config_file)[0]
    assert is_refused == refused


def test_aliases_of_aliases_are_refused_before_they_are_written_out(config_file: Path) -> None:
    add(config_file, ALIASES)
    started = time.process_time()
    tracemalloc.start()
    assert "at most 10,000 values" in faults_of(config_file)[0]
    assert "at most 10,000 values" in faults_of(config_file, f"model.encoder={ALIASES_IN_A_LINE}")[0]
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 10 << 20
    assert time.process_time() - started < 5


def test_null_epochs_stay_null_in_the_resolved_configuration(config_file: Path, tmp_path: Path) -> None:
    config = load_config(str(config_file), ["training.epochs=null", "tuning.search=grid", "tuning.epsilon=[1]"])
    assert (config.training.epochs, config.tuning.epochs) == (None, None)
    (tmp_path / "resolved.yaml").write_text(dump_config(config))
    assert load_config(str(tmp_path / "resolved.yaml")) == config


def test_an_alias_shares_settings(config_file: Path) -> None:
    add(config_file, "training: &same\n  epochs: 3\ntuning: *same\n")
    config = load_config(str(config_file))
    assert (config.training.epochs, config.tuning.epochs) == (3, 3)


@pytest.mark.parametrize(
    "lines",
    [
        f"training:\n  epochs: {10**5 * 'x'}\n",
        f"training:\n  epochs: 0x{10**4 * 'f'}\n",
        f"training:\n  {10**5 * 'x'}: 3\n",
        f"training:\n  epochs: [{10**3 * '1, '}]\n",
        f"data: {10**4 * 'x'}\n",
        f"training:\n  best_metric: {10**4 * 'x'}\n",
        f"model:\n  encoder: {10**5 * 'x'}\n",
        f"? [{10**4 * 'x'}]\n: 3\n",
    ],
    ids=["word", "number", "key", "list", "section", "choice", "checked", "no key"],
)
def test_a_huge_value_is_shortened_in_the_message(config_file: Path, lines: str) -> None:
    add(config_file, lines)
    faults = faults_of(config_file)
    assert all(len(fault) < 3000 for fault in faults)


def test_a_huge_override_is_shortened_in_the_message(config_file: Path) -> None:
    (fault,) = faults_of(config_file, f"training.epochs=[{10**5 * 'x'}")
    assert len(fault) < 1000


# Overrides


def test_an_override_replaces_and_adds_settings(config_file: Path) -> None:
    add(config_file, "training:\n  epochs: 7\n  seed: 5\n")
    overrides = ["training.epochs=3", "training.epochs=4", "loss.theta=[0.1, 0.5]", "data.document_language=de"]
    config = load_config(str(config_file), overrides)
    assert (config.training.epochs, config.training.seed) == (4, 5)
    assert config.loss.theta == (0.1, 0.5)
    assert config.data.document_language == "de"


@pytest.mark.parametrize(
    "overrides",
    [
        ["data.top_grade=3", "loss.theta=[0.1, 0.4, 0.8]"],
        ["data.top_grade=1", "loss.theta=[0.1]", "loss.name=mse"],
        ["data.top_grade=5", "loss.name=softmax"],
        ["loss.name=three_part_l2"],
    ],
)
def test_a_loss_that_fits_the_grades_is_taken(config_file: Path, overrides: list[str]) -> None:
    load_config(str(config_file), overrides)


def test_other_grades_need_a_theta(config_file: Path) -> None:
    (fault,) = faults_of(config_file, "data.top_grade=3")
    assert fault == (
        f"{config_file}: loss: theta must hold as many thresholds as data.top_grade for sosl; "
        "got [0.2, 0.7], its own, and data.top_grade 3"
    )


def test_an_override_mends_a_fault_of_the_file(config_file: Path) -> None:
    add(config_file, "training:\n  epochs: 0\n")
    assert load_config(str(config_file), ["training.epochs=3"]).training.epochs == 3


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("=3", "must have the form section.key=value"),
        ("", "must have the form section.key=value"),
        ("training..epochs=3", "must have the form section.key=value"),
        ("output=2020-13-45", "the value must be YAML: month must be in 1..12; got '2020-13-45'"),
        ("training.seed=", "training.seed: "),
        ("training.epochs=x", "training.epochs: "),
        ("trainning.epochs=3", "did you mean training"),
        ("training.epochs.most=3", "training.epochs"),
        ("data.queries=missing", "data.queries: there is no file"),
        ("data.top_grade=0", "data.top_grade: "),
        ("data.top_grade=101", "data.top_grade: must be less than or equal to 100; got 101"),
        *(
            (f"{key}=100000000000000000000", f"{key}: must be less than 2147483648; got 100000000000000000000")
            for key in (
                *(f"data.{key}" for key in ("negatives", "used_negatives", "max_queries", "max_document_tokens")),
                *("tuning.trials", "tuning.epochs", "training.epochs", "model.vocabulary_size"),
            )
        ),
        ("loss.theta=[0.1, 0.5, 0.9]", "as data.top_grade for sosl; got [0.1, 0.5, 0.9] and data.top_grade 2"),
    ],
)
def test_a_fault_of_an_override_names_the_override(config_file: Path, override: str, words: str) -> None:
    (fault,) = faults_of(config_file, override)
    assert fault.startswith(f"--set {override}: ")
    assert words in fault


# The resolved configuration


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.fixed_dictionaries(
        {
            "model": st.fixed_dictionaries(
                {"epsilon": st.just(0.0) | st.floats(1e-6, 1e6), "encoder": st.sampled_from(sorted(ENCODERS))}
            ),
            "tuning": st.fixed_dictionaries(
                {
                    "epsilon": st.sets(st.just(0.0) | st.floats(1e-6, 1e6), min_size=1).map(sorted)
                    | st.just({"min": 0.1, "max": 1})
                }
            ),
            "loss": st.fixed_dictionaries({"theta": st.sets(THRESHOLDS, min_size=2, max_size=2).map(sorted)})
            | st.sampled_from(sorted(LOSSES)).map(lambda name: {"name": name}),
            "training": st.fixed_dictionaries({"learning_rate": st.floats(1e-12, 1e12)}),
            "evaluation": st.fixed_dictionaries(
                {"minimums": st.none() | st.dictionaries(st.sampled_from(sorted(METRICS)), st.floats(0, 1))}
            ),
            "output": st.text(st.characters(codec="utf-8", exclude_characters="\0~[]*?:"), min_size=1, max_size=20),
        }
    )
)
@pytest.mark.stages
def test_the_resolved_configuration_loads_to_the_same(config_file: Path, content: dict[str, object]) -> None:
    first = config_file.with_name("first.yaml")
    first.write_text(yaml.safe_dump(yaml.safe_load(config_file.read_text()) | content), encoding="utf-8")
    resolved = resolve_digests(load_config(str(first)))
    second = config_file.with_name("resolved.yaml")
    second.write_text(dump_config(resolved), encoding="utf-8")
    assert load_config(str(second)) == resolved
    assert resolve_digests(load_config(str(second))) == resolved


def test_the_resolved_configuration_holds_every_key(config_file: Path) -> None:
    dumped = yaml.safe_load(dump_config(load_config(str(config_file))))
    for key in known_keys(RunConfig):
        reduce(lambda section, name: section[name], key.split("."), dumped)


@pytest.fixture
def resolved(config_file: Path) -> RunConfig:
    return resolve_digests(load_config(str(config_file)))


def test_every_input_has_a_digest(config_file: Path) -> None:
    (config_file.parent / "en.vec").write_text("wolf 1 2\n")
    (config_file.parent / "pairs.tsv").write_text("wolf\tloup\n")
    add(config_file, "model: {embedding_dim: 2}\nembeddings: {query: en.vec}\nlexicon: {pairs: pairs.tsv}\n")
    config = resolve_digests(load_config(str(config_file)))
    names = [f"data.{role}" for role in ("queries", "documents", "judgments")] + ["embeddings.query", "lexicon.pairs"]
    assert sorted(config.inputs()) == sorted(names)
    for name, path in config.inputs().items():
        section, key = name.split(".")
        assert getattr(getattr(config, section).sha256, key) == hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_changed_files_are_refused_by_the_resolved_configuration(config_file: Path, resolved: RunConfig) -> None:
    (config_file.parent / "wiki.queries").write_text("q1\tWolf\thowls\n")
    (config_file.parent / "en2fr.rel").write_text("q1\td2\t2\n")
    with pytest.raises(ConfigError) as error:
        resolve_digests(resolved)
    queries, judgments = error.value.faults
    assert queries.startswith("data.queries: ")
    assert judgments.startswith("data.judgments: ")
    assert str(resolved.data.sha256.queries) in queries
    assert hashlib.sha256(b"q1\tWolf\thowls\n").hexdigest() in queries


# Paths that are not local, and patterns


def test_a_path_on_google_cloud_storage_passes_unchanged(config_file: Path) -> None:
    paths = ["data.documents=gs://bucket/fr.documents-*.gz", "output=gs://bucket/out"]
    config = load_config(str(config_file), paths)
    assert (config.data.documents, config.output) == ("gs://bucket/fr.documents-*.gz", "gs://bucket/out")
    assert load_config(str(config_file)).data.queries.startswith("/")


def test_other_schemes_are_refused_each_with_its_place(config_file: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(str(config_file), ["data.queries=s3://bucket/q", "output=hdfs://host/out"])
    for key, path in (("data.queries", "s3://bucket/q"), ("output", "hdfs://host/out")):
        place = f"--set {key}={path}: {key}: must be a local path, or one on Google Cloud Storage (gs://...); got "
        assert f"{place}{path!r}." in error.value.faults


def test_a_pattern_names_all_files_that_match_it_in_the_order_of_their_names(config_file: Path) -> None:
    folder = config_file.parent.resolve()
    for number, text in ((10, "d1\tLoup\tvit\n"), (2, "d2\tChien\tgarde\n")):
        (folder / f"fr.documents-{number:02}").write_text(text)
    config = resolve_digests(load_config(str(config_file), [f"data.documents={folder}/fr.documents-*"]))
    files = {role: files_of(path) for role, path in config.data.inputs().items()}
    assert files["documents"] == [f"{folder}/fr.documents-02", f"{folder}/fr.documents-10"]
    assert files["queries"] == [str(folder / "wiki.queries")]
    digests = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files["documents"]]
    assert config.data.sha256.documents == input_digest(digests)
    assert load_config(str(config_file), [f"data.documents={folder}/wiki.documents"])
    with pytest.raises(ConfigError, match=r"there is no file .*/nothing-\*"):
        load_config(str(config_file), [f"data.documents={folder}/nothing-*"])


def test_the_paper_s_system_is_no_baseline_where_workers_or_replicas_cannot_divide_its_batch(config_file: Path) -> None:
    settings = ["training.batch_lists=18", "evaluation.baselines=[paper]"]
    assert load_config(str(config_file), [*settings, "training.workers=2"]).training.workers == 2
    for key, came in (("workers", "3 x 1"), ("replicas", "1 x 3")):
        with pytest.raises(ConfigError, match=f"whose batch of 16 lists cannot be divided .*; got {came}"):
            load_config(str(config_file), [*settings, f"training.{key}=3"])


@pytest.mark.parametrize(("top_grade", "theta"), [(1, (0.5,)), (2, (0.2, 0.7)), (3, (0.2, 0.45, 0.7))])
def test_the_paper_s_system_is_a_baseline_of_any_grades(
    config_file: Path, top_grade: int, theta: tuple[float, ...]
) -> None:
    settings = ["loss.name=softmax", "evaluation.baselines=[paper]", f"data.top_grade={top_grade}"]
    beside = load_config(str(config_file), settings).paper_beside()
    assert (beside.loss.name, beside.loss.theta) == ("sosl", theta)


def test_what_a_search_found_stands_in_a_comment_alone(config_file: Path) -> None:
    config = load_config(str(config_file))
    text = dump_config(config, {"loss.theta": [0.1, 0.55]})
    assert text.splitlines()[1].endswith('trained with: {"loss.theta": [0.1, 0.55]}')
    assert yaml.safe_load(text) == yaml.safe_load(dump_config(config))
