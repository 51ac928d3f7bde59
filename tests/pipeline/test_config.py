"""pipeline/config.py: reading a file and overrides, the place of each fault, and the resolved configuration.

The rules of single settings are in `tests/bad_input`.
"""

import hashlib
import os
import time
import tracemalloc
from functools import reduce
from operator import attrgetter
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.evaluation.metrics import METRICS
from models.layers.settings import TextEncoderSettings
from models.lexicon.settings import MatchingSettings
from models.losses.settings import LossSettings
from pipeline.config import RunConfig, without_folders
from pipeline.config_file import dump_config, load_config
from pipeline.input_files import files_of, resolve_digests
from pipeline.presets import PRESETS
from pipeline.settings_file import settings_fields
from schemas.byte_streams import input_digest
from schemas.errors import ConfigError

ALIASES = "".join(f"a{i}: &a{i} [{', '.join(10 * [f'*a{i - 1}' if i else 'x'])}]\n" for i in range(10))
"""Ten lines of YAML that stand for ten billion values."""
ALIASES_IN_A_LINE = f"[{', '.join(line.partition(': ')[2] for line in ALIASES.splitlines())}]"


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


# Values


def test_an_override_replaces_adds_and_mends_settings(config_file: Path) -> None:
    add(config_file, "training:\n  epochs: 0\n  seed: 5\nevaluation:\n  minimums: {AP: 0.5, P@10: 0.1}\n")
    overrides = ["training.epochs=3", "training.epochs=4", "loss.theta=[0.1, 0.5]", "training.learning_rate=1e-3"]
    config = load_config(str(config_file), overrides)
    assert (config.training.epochs, config.training.seed, config.training.learning_rate) == (4, 5, 0.001)
    assert (config.loss.theta, config.evaluation.minimums) == ((0.1, 0.5), {"map": 0.5, "p_r_10": 0.1})


def test_an_empty_section_keeps_its_defaults_and_an_alias_shares_settings(config_file: Path) -> None:
    defaults = load_config(str(config_file))
    add(config_file, "training:\n  # epochs: 3\n")
    assert load_config(str(config_file)) == defaults
    add(config_file, "evaluation: &same {}\nsearch: *same\nkubeflow: &volumes\n  volumes: {a: /a}\n")
    config = load_config(str(config_file), ["training.epochs=3"])
    assert (config.training.epochs, config.kubeflow.volumes, config.search) == (3, {"a": "/a"}, defaults.search)


def test_relative_paths_are_relative_to_the_file_and_in_overrides_to_the_current_folder(
    config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = config_file.parent.resolve()
    (folder / "here").mkdir()
    (folder / "here" / "other.rel").write_text("q1\td2\t2\n")
    (folder / "fr.vec").write_text("loup 1 2\n")
    add(config_file, "channels: {towers: {embedding_dim: 2}}\nembeddings: {document: fr.vec}\n")
    monkeypatch.chdir(folder / "here")
    config = load_config(os.path.relpath(config_file), ["data.judgments=other.rel", "output=../there"])
    assert config.inputs() == {
        "data.queries": str(folder / "wiki.queries"),
        "data.documents": str(folder / "wiki.documents"),
        "data.judgments": str(folder / "here" / "other.rel"),
        "embeddings.document": str(folder / "fr.vec"),
    }
    assert config.output == str(folder / "there")
    assert load_config(str(config_file)).output == str(folder / "out")


def test_a_path_on_google_cloud_storage_passes_unchanged_and_other_schemes_are_refused(config_file: Path) -> None:
    config = load_config(str(config_file), ["data.documents=gs://bucket/fr-*.gz", "output=gs://bucket/out"])
    assert (config.data.documents, config.output) == ("gs://bucket/fr-*.gz", "gs://bucket/out")
    overrides = {"data.queries": "s3://bucket/q", "output": "hdfs://host/out"}
    faults = faults_of(config_file, *(f"{key}={path}" for key, path in overrides.items()))
    for (key, path), fault in zip(overrides.items(), faults, strict=True):
        assert fault.startswith(f"--set {key}={path}: {key}: ") and "gs://" in fault and repr(path) in fault


def test_a_pattern_names_all_files_that_match_it_in_the_order_of_their_names(config_file: Path) -> None:
    folder = config_file.parent.resolve()
    for number, text in ((10, "d1\tLoup\tvit\n"), (2, "d2\tChien\tgarde\n")):
        (folder / f"fr-{number:02}").write_text(text)
    config = resolve_digests(load_config(str(config_file), [f"data.documents={folder}/fr-*"]))
    files = files_of(config.data.inputs()["documents"])
    assert files == [f"{folder}/fr-02", f"{folder}/fr-10"]
    digests = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
    assert config.data.sha256.documents == input_digest(digests)


# Faults


@pytest.mark.parametrize(
    ("lines", "line", "key", "shown"),
    [
        ("zzz: 3\n", 8, "zzz", "known: preset, data.queries, "),
        ("ouput:\n", 8, "ouput", "did you mean output?"),
        ("training.epochs: 3\n", 8, "training.epochs", "--set"),
        ("training:\n  objective.kind: lists\n", 9, "training.objective.kind", "--set"),
        ("output: elsewhere\n", 8, "output", "run.yaml:7"),
        ("training: {epochs: 3,\n  epochs: 4}\n", 9, "training.epochs", "run.yaml:8"),
        ("training:\n  epochs: 3.5\n", 9, "training.epochs", "got 3.5"),
        ("training:\n  epochs: three\n", 9, "training.epochs", "got 'three'"),
        ("training: 3\n", 8, "training", "got 3"),
        ("channels: [cossim]\n", 8, "channels", "got ['cossim']"),
        ("channels:\n  towers: {encoder: [mean]}\n", 9, "channels.towers.encoder", "got ['mean']"),
        ("loss:\n  theta: [low]\n", 9, "loss.theta.0", "got 'low'"),
        ("tuning:\n  theta:\n  - [0.2]\n  - {min: x}\n", 11, "tuning.theta.1.min", "got 'x'"),
        ("embeddings: {query: ''}\n", 8, "embeddings.query", "got ''"),
        ("preset: yes\n", 8, "preset", "got True"),
        ("1: x\n", 8, "1", "got 1"),
        ("training:\n  seed: 010\n", 9, "", "got '010'"),
        ("training:\n  epochs: 1:30\n", 9, "", "got '1:30'"),
        ("loss:\n  softmax_weight: 1:30.5\n", 9, "", "got '1:30.5'"),
        ("loss:\n  theta: [0.2, -0_7]\n", 9, "", "got '-0_7'"),
        ('channels: {encoder: {name: "a\\0"}}\n', 8, "", "got 'a\\x00'"),
        ('channels: {encoder: {name: "a\\ud83d"}}\n', 8, "", "got 'a\\ud83d'"),
        ("channels: !!python/name:os.system\n", 8, "", "python/name:os.system"),
        ("channels: {towers: {epsilon: 1\n", 9, "", "YAML"),
        ("loss:\n\ttheta: 1\n", 9, "", "'\\t'"),
        ("channels: " + 2000 * "[\n ", 0, "", "YAML"),
        ("channels: {encoder: {name: 2020-13-45}}\n", 0, "", "month"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_a_fault_names_its_line_its_key_and_the_value(
    config_file: Path, lines: str, line: int, key: str, shown: str
) -> None:
    add(config_file, lines)
    (fault,) = faults_of(config_file)
    location = f"{config_file}:{line}" if line else str(config_file)
    assert fault.startswith(f"{location}: {key}: " if key else f"{location}: ")
    assert shown in fault


@pytest.mark.parametrize(
    ("old", "new", "start", "shown"),
    [
        ("  queries: wiki.queries\n", "", ":1: data.queries: ", ""),
        ("output: out\n", "", ": output: ", ""),
        ("document_language: fr", "document_language: no", ":6: data.document_language: ", "got False"),
        ("output: out", "output: ''", ":7: output: ", "got ''"),
        ("output: out", "output: " + 300 * "x", ":7: output: ", "File name too long"),
        ("output: out", "output: wiki.queries/out", ":7: output: ", "{folder}/wiki.queries is a file"),
        ("output: out", "output: ~nobody-of-this-name/../run.yaml", ":7: output: ", "{folder}/run.yaml is a file"),
        ("output: out", "output: /proc/out", ":7: output: ", "/proc/out"),
        ("output: out", "output: .", ":7: output: ", "en2fr.rel and 3 more"),
        ("wiki.documents", "wiki.documents-*.gz", ":3: data.documents: ", "{folder}/wiki.documents-*.gz"),
    ],
)
def test_a_fault_of_what_must_be_given_names_its_place(
    config_file: Path, old: str, new: str, start: str, shown: str
) -> None:
    replace(config_file, old, new)
    (fault,) = faults_of(config_file)
    assert fault.startswith(f"{config_file}{start}")
    assert shown.format(folder=config_file.parent) in fault


@pytest.mark.parametrize(
    ("content", "shown"),
    [(None, "No such file"), ("", "data and output"), ("- data\n", "list"), (b"output: \xe9t\xe9", "0xe9")],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, content: str | bytes | None, shown: str) -> None:
    if content is not None:
        (tmp_path / "run.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    (fault,) = faults_of(tmp_path / "run.yaml")
    assert fault.startswith(f"{tmp_path / 'run.yaml'}: ") and shown in fault
    (fault,) = faults_of(tmp_path)
    assert fault.startswith(f"{tmp_path}: ")


@pytest.mark.parametrize(
    ("override", "shown"),
    [
        ("=3", "section.key=value"),
        ("training.epochs", "section.key=value"),
        ("training..epochs=3", "section.key=value"),
        ("training.=3", "section.key=value"),
        ("output=2020-13-45", "'2020-13-45'"),
        ("loss.theta=[0.1", "'[0.1'"),
        ("output=\udce9t\udce9", "#xdce9"),
        ("training.seed=", "training.seed: "),
        ("trainning.epochs=3", "did you mean training"),
        ("training.epochs.most=3", "training.epochs"),
        ("output.folder=x", "output is not a section"),
        ("data.queries=missing", "data.queries: "),
        ("preset=null", "got None"),
    ],
)
def test_a_fault_of_an_override_names_the_override(config_file: Path, override: str, shown: str) -> None:
    (fault,) = faults_of(config_file, override)
    assert fault.startswith(f"--set {override}: ".replace("\udce9", "\ufffd")) and shown in fault


def test_all_faults_are_reported_at_once_each_at_its_place(config_file: Path) -> None:
    replace(config_file, "wiki.documents", "missing")
    replace(config_file, "query_language: en", "query_language: english")
    (config_file.parent / "fr.vec").write_text("1 3\nloup 1 2 3\n")
    add(config_file, "training:\n  epochs: 0\n  epochs: x\n  seeds: 3\nouput: x\n")
    add(
        config_file,
        "channels: {towers: {embedding_dim: 2, epsilon: -1}}\nembeddings: {document: fr.vec, query: en.vec}\n",
    )
    add(config_file, "kubeflow:\n  resources:\n    Trainr: {cpu: 1}\n    Trainer: {memory: 0}\n")
    add(config_file, "beam: {runner: dataflow, endpoint: 'localhost:1', region: Europe}\n")
    faults = faults_of(config_file, "epsilon", "loss.kind=x")
    expected = {"--set epsilon": ["must have the form section.key=value."], "--set loss.kind=x": ["loss.kind"]}
    keys = {
        3: ["data.documents"],
        5: ["data.query_language"],
        10: ["training.epochs", "training.epochs"],
        11: ["training.seeds"],
        12: ["ouput"],
        13: ["channels.towers.epsilon"],
        14: ["embeddings.document", "embeddings.query"],
        17: ["kubeflow.resources.Trainr"],
        18: ["kubeflow.resources.Trainer.memory"],
        19: [f"beam.{key}" for key in ("endpoint", "project", "region", "temp_location")],
    }
    expected |= {f"{config_file}:{line}": names for line, names in keys.items()}
    assert sorted(fault.split(": ")[:2] for fault in faults) == sorted(
        [location, key] for location, keys_there in expected.items() for key in keys_there
    )


@pytest.mark.parametrize("languages", ["[fr, de, fr]", "fr+de", "[de, fr]"])
def test_several_languages_are_joined_whatever_their_form_and_order(config_file: Path, languages: str) -> None:
    (config_file.parent / "wiki.documents").write_text("id\ttext\tlang\nd1\tun loup\tfr\nd2\tein Wolf\tde\n")
    replace(config_file, "document_language: fr", f"document_language: {languages}")
    config = load_config(str(config_file))
    assert config.data.languages == ("en", "de+fr")
    assert config.data.languages_by_role == {"documents": ["de", "fr"]}
    resolved = config_file.with_name("resolved.yaml")
    resolved.write_text(dump_config(config))
    assert load_config(str(resolved)).data == config.data


@pytest.mark.parametrize(
    ("lines", "override", "shown"),
    [
        ("", "data.document_language=[fr, xx]", "must be an ISO 639-1 code (two letters), such as en; got 'xx'"),
        ("", "data.document_language=[no, fr]", "must be a list of ISO 639-1 codes; got [False, 'fr']"),
        ("", "channels.lexicon.translator={kind: command, command: [[cat]]}", "must be null with several languages"),
        (
            "evaluation: {baselines: [translated_bm25]}\n",
            "evaluation.query_translator={kind: command, command: [[cat]]}",
            "must be null with several languages",
        ),
    ],
)
def test_what_does_not_fit_several_languages_is_refused(
    config_file: Path, lines: str, override: str, shown: str
) -> None:
    add(config_file, lines)
    (config_file.parent / "wiki.documents").write_text("id\ttext\tlang\nd1\tun loup\tfr\nd2\tein Wolf\tde\n")
    (fault,) = faults_of(config_file, "data.document_language=[fr, de]", override)
    assert shown in fault


def test_a_header_without_the_language_is_refused_where_documents_have_several(config_file: Path) -> None:
    (config_file.parent / "wiki.documents").write_text("id\ttext\nd1\tun loup\n")
    (fault,) = faults_of(config_file, "data.document_language=[fr, de]")
    assert "data.documents" in fault and "lang" in fault


@pytest.mark.parametrize("dim", [0, 10**30, "x"])
def test_an_impossible_width_is_the_only_fault(config_file: Path, dim: object) -> None:
    (config_file.parent / "fr.vec").write_text("loup 1 2\n")
    add(config_file, f"channels: {{towers: {{embedding_dim: {dim}}}}}\nembeddings: {{document: fr.vec}}\n")
    (fault,) = faults_of(config_file)
    assert ":8: channels.towers.embedding_dim: " in fault


def test_an_alias_within_itself_is_a_fault(config_file: Path) -> None:
    add(config_file, "channels: &channels {towers: *channels}\n")
    assert faults_of(config_file)


@pytest.mark.parametrize(("aliased", "refused"), [(100, False), (101, True)])
def test_aliases_may_stand_for_ten_thousand_values(config_file: Path, aliased: int, refused: bool) -> None:
    add(config_file, f"some: &some [{', '.join(99 * 'x')}]\nmore: [{', '.join(aliased * ['*some'])}]\n")
    assert ("at most 10,000 values" in faults_of(config_file)[0]) == refused


def test_aliases_of_aliases_are_refused_before_they_are_written_out(config_file: Path) -> None:
    add(config_file, ALIASES)
    started = time.process_time()
    tracemalloc.start()
    assert "at most 10,000 values" in faults_of(config_file)[0]
    assert "at most 10,000 values" in faults_of(config_file, f"channels.towers.encoder={ALIASES_IN_A_LINE}")[0]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "lines",
    [
        f"training:\n  epochs: {10**5 * 'x'}\n",
        f"training:\n  epochs: 0x{10**4 * 'f'}\n",
        f"training:\n  {10**4 * 'x'}: 3\n",
        f"training:\n  epochs: [{10**3 * '1, '}]\n",
        f"data: {10**4 * 'x'}\n",
        f"training:\n  best_metric: {10**4 * 'x'}\n",
        f"? [{10**4 * 'x'}]\n: 3\n",
    ],
    ids=["word", "number", "key", "list", "section", "choice", "no key"],
)
def test_a_huge_value_is_shortened_in_the_message(config_file: Path, lines: str) -> None:
    add(config_file, lines)
    assert all(len(fault) < 3000 for fault in faults_of(config_file, f"loss.theta=[{10**5 * 'x'}"))


# The resolved configuration


THRESHOLDS = st.sets(st.floats(-1, 1, exclude_min=True, exclude_max=True), min_size=2, max_size=2).map(sorted)
EPSILONS = st.just(0.0) | st.floats(1e-6, 1e6)
CHANGES = [
    "training.epochs=null", "training.epochs=4", "channels.towers.embedding_dim=8", "training.learning_rate=null",
    "training.learning_rate_end=null", "channels.lexicon=null", "channels.lexicon.weight=fitted",
    "channels.lexicon.weight=0.25", "training.negatives_from=all", "tuning.search=grid", "tuning.epochs=null",
]  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.fixed_dictionaries(
        {
            "loss": st.fixed_dictionaries({"theta": THRESHOLDS})
            | st.fixed_dictionaries({"kind": st.sampled_from([*LossSettings.kinds])})
        },
        optional={
            "preset": st.sampled_from([*PRESETS]),
            "channels": st.fixed_dictionaries(
                {
                    "towers": st.fixed_dictionaries(
                        {"epsilon": EPSILONS, "encoder": st.sampled_from([*TextEncoderSettings.kinds])}
                    )
                    | st.fixed_dictionaries({"similarity": st.sampled_from(["smooth_cosine", "cosine", "dot"])})
                    | st.sampled_from(["cossim", "duet_distributed"])
                },
                optional={"lexicon": st.sampled_from([None, *MatchingSettings.kinds])},
            ),
            "tuning": st.fixed_dictionaries(
                {"epsilon": st.sets(EPSILONS, min_size=1).map(sorted) | st.just({"min": 0.1, "max": 1, "step": 0.3})}
            ),
            "evaluation": st.fixed_dictionaries(
                {"minimums": st.none() | st.dictionaries(st.sampled_from([*METRICS]), st.floats(0, 1))}
            ),
            "output": st.text(st.characters(codec="utf-8", exclude_characters="\0~[]*?:"), min_size=1, max_size=20),
        },
    ),
    changes=st.lists(st.sampled_from(CHANGES), max_size=4),
)
def test_the_resolved_configuration_holds_every_key_and_loads_to_the_same(
    config_file: Path, content: dict[str, object], changes: list[str]
) -> None:
    first, second = config_file.with_name("first.yaml"), config_file.with_name("resolved.yaml")
    first.write_text(yaml.safe_dump(yaml.safe_load(config_file.read_text()) | content), encoding="utf-8")
    try:
        resolved = resolve_digests(load_config(str(first), changes))
    except ConfigError:  # a scorer or a search that these do not fit
        return
    second.write_text(dump_config(resolved), encoding="utf-8")
    dumped = yaml.safe_load(second.read_text(encoding="utf-8"))
    assert next(iter(dumped)) == "preset"
    for setting in settings_fields(RunConfig):
        if not setting.kinds:
            reduce(lambda section, name: section and section[name], setting.name.split("."), dumped)
    again = load_config(str(second))
    assert again == resolved == resolve_digests(again)


def test_a_search_s_values_stand_in_a_comment_alone_and_a_card_tells_no_folder(config_file: Path) -> None:
    config = load_config(str(config_file), ["kubeflow.image=clir:1"])
    text = dump_config(config, {"loss.theta": [0.1, 0.55]})
    assert text.splitlines()[1].endswith('trained with: {"loss.theta": [0.1, 0.55]}')
    assert yaml.safe_load(text) == yaml.safe_load(dump_config(config))
    published = without_folders(config)
    assert not {"kubeflow", "beam", "output"} & published.keys()
    assert published["data"]["queries"] == "wiki.queries"


def test_every_input_has_a_digest_and_a_changed_one_is_refused_with_both(config_file: Path) -> None:
    folder = config_file.parent
    (folder / "en.vec").write_text("wolf 1 2\n")
    (folder / "pairs.tsv").write_text("wolf\tloup\n")
    add(
        config_file,
        "channels: {towers: {embedding_dim: 2}, lexicon: {pairs: pairs.tsv}}\nembeddings: {query: en.vec}\n",
    )
    resolved = resolve_digests(load_config(str(config_file)))
    names = ["data.queries", "data.documents", "data.judgments", "embeddings.query", "channels.lexicon.pairs"]
    assert sorted(resolved.inputs()) == sorted(names)
    digests = {}
    for name, path in resolved.inputs().items():
        section, _, key = name.rpartition(".")
        digests[name] = attrgetter(f"{section}.sha256.{key}")(resolved)
        assert digests[name] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
        Path(path).write_bytes(Path(path).read_bytes() + b" ")
    with pytest.raises(ConfigError) as error:
        resolve_digests(resolved)
    for fault, (name, path) in zip(error.value.faults, resolved.inputs().items(), strict=True):
        assert fault.startswith(f"{name}: {path} ")
        assert digests[name] in fault and hashlib.sha256(Path(path).read_bytes()).hexdigest() in fault


@pytest.mark.parametrize(("top_grade", "theta"), [(1, (0.2, 0.7)), (2, (0.2, 0.7)), (3, (0.2, 0.45, 0.7))])
def test_the_paper_s_system_is_a_baseline_of_any_grades(
    config_file: Path, top_grade: int, theta: tuple[float, ...]
) -> None:
    overrides = ["loss.kind=softmax", "evaluation.baselines=[paper]", f"data.top_grade={top_grade}"]
    baseline = load_config(str(config_file), overrides).paper_baseline()
    assert (baseline.preset, baseline.loss.kind, baseline.loss.theta) == ("paper", "sosl", theta)
