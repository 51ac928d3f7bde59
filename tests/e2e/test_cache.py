"""An exact cache: what an edit or a setting changes in the stages' keys, and that real runs follow the keys."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from pipeline import identity, stages
from pipeline.config import load_config
from tests.e2e.forked import clir
from tests.e2e.process import DECIDES, ROOT, SAMPLE, told_stages
from tests.e2e.test_run import STAGES

pytestmark = pytest.mark.runs

Keys = dict[str, dict[str, object]]

# What a setting or an edit changes in the stages' parameters, and so in their keys


def keys(
    *overrides: str,
    cell: str | None = None,
    config: str = "sample.yaml",
) -> Keys:
    """The parameters of every stage, for a configuration of the sample, but for what the Pusher, which always runs,
    writes into its model's card: all settings."""
    from pipeline.pipeline import create_pipeline  # here, so that quick tests collect this file without TFX

    settings = load_config(str(ROOT / "configs" / config), ["preset=paper", *overrides])
    output = settings.output
    pipeline = create_pipeline(settings, "/artifacts", f"{output}/serving", f"{output}/index", cell)
    parameters = {component.id: dict(component.exec_properties) for component in pipeline.components}
    parameters.get("Pusher", {}).pop("settings", None)
    return parameters


def changed(before: Keys, after: Keys) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


def changed_by_an_edit(file: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *overrides: str) -> set[str]:
    """The stages whose keys change with one of the code's files, for a copy of the code in the folder."""
    before = keys(*overrides)
    copy_code(folder)
    (folder / file).write_text((ROOT / file).read_text() + "\n# edited\n")
    monkeypatch.setattr(identity, "_ROOT", folder)
    return changed(before, keys(*overrides))


def copy_code(folder: Path) -> None:
    for room in ("schemas", "wikipedia", "models", "components", "pipeline", "experiments", "cli"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))


def test_an_index_adds_the_stages_that_make_it_and_evaluate_the_search() -> None:
    assert keys("search.index=true").keys() - keys().keys() == {"CorpusIndexer", "IndexPusher", "SearchEvaluator"}


def test_a_cell_of_an_experiment_has_no_index() -> None:
    assert keys("search.index=true", cell="one").keys() == keys().keys() - {"Pusher"}


def test_where_beam_runs_is_in_no_key() -> None:
    portable = ("runner=portable", "endpoint=localhost:8099", "environment=loopback", "parallelism=2")
    assert keys(*(f"beam.{setting}" for setting in portable)) == keys()


def test_equal_configurations_have_equal_keys() -> None:
    assert changed(keys(), keys()) == set()


def test_every_stage_has_an_identity() -> None:
    assert {name for name, parameters in keys().items() if len(str(parameters["identity"])) == 64} == {*STAGES}


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("data.negatives=20", {"WikiClirExampleGen"}),
        ("data.test_negatives=100", {"WikiClirExampleGen"}),
        ("data.query_words=5", {"WikiClirExampleGen"}),
        ("data.most_sampled=100", {"WikiClirExampleGen"}),
        ("data.shards=2", {"WikiClirExampleGen"}),
        ("data.used_negatives=20", {"Trainer", "Evaluator", "Gate"}),
        ("data.seed=2", {"WikiClirExampleGen"}),
        ("data.max_queries=100", {"WikiClirExampleGen"}),
        ("data.split=documents", {"WikiClirExampleGen"}),
        ("data.cold_share=0.2", {"WikiClirExampleGen"}),
        ("data.top_grade=3", {"CollectionGen", "WikiClirExampleGen", "Trainer", "Evaluator", "Gate"}),
        ("data.max_document_tokens=100", {"Transform", "LexicalBaseline", "Trainer"}),
        ("data.segmented=true", {"WikiClirExampleGen", "Transform", "LexicalBaseline", "Trainer"}),
        ("data.max_bad_share=0.5", {"WikiClirExampleGen"}),
        ("data.sha256.documents=0f", {"CollectionGen"}),
        ("data.sha256.queries=0f", {"CollectionGen"}),
        ("model.epsilon=0.5", {"Trainer", "TrainingReport"}),
        ("model.encoder=cnn", {"Trainer", "TrainingReport"}),
        ("model.vocabulary_size=10", {"Transform"}),
        ("model.embedding_dim=32", {"Trainer", "TrainingReport"}),
        ("embeddings.train=false", set()),
        ("loss.theta=[0.3, 0.7]", {"Trainer", "TrainingReport"}),
        ("loss.name=mse", {"Trainer", "TrainingReport"}),
        ("training.learning_rate=0.01", {"Trainer", "TrainingReport"}),
        ("training.negatives_from=judged", {"Trainer", "TrainingReport"}),
        ("evaluation.minimums={map: 0.5}", {"Gate"}),
        ("evaluation.compared_metric=map", {"Gate"}),
        ("evaluation.significance=0.01", {"Gate"}),
        ("evaluation.start_anew=true", {"Gate"}),
        ("output=elsewhere", {"Gate", "Pusher"}),
    ],
)
def test_a_setting_changes_the_stages_that_use_it_and_no_others(setting: str, stages: set[str]) -> None:
    # SOSL would need another theta for another top grade; softmax has none.
    loss = "loss.name=softmax" if setting.startswith("data.top_grade") else "loss.name=sosl"
    assert changed(keys(loss), keys(loss, setting)) == stages


SEARCH = ("tuning.search=grid", "tuning.epsilon=[0.5, 2]", "tuning.epochs=3")
ENDPOINT = ("encoder.kind=endpoint", "encoder.address=http://127.0.0.1:9", "encoder.query_model=m")


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("tuning.epsilon=[0.5, 1]", {"Tuner"}),
        ("tuning.trials=1", {"Tuner"}),
        ("tuning.epochs=4", {"Tuner"}),
        ("tuning.theta=[[0.2], [0.6, 0.8]]", {"Tuner"}),
        ("training.epochs=4", {"Trainer", "TrainingReport"}),
        ("training.seed=2", {"Tuner", "Trainer", "TrainingReport"}),
        ("training.best_metric=map", {"Tuner", "Trainer", "TrainingReport"}),
        ("model.epsilon=0.5", set()),
        ("model.vocabulary_size=10", {"Transform"}),
        ("loss.theta=[0.3, 0.7]", {"Tuner", "Trainer", "TrainingReport"}),
    ],
)
def test_a_search_uses_the_settings_of_the_training_but_for_those_it_replaces(setting: str, stages: set[str]) -> None:
    assert changed(keys(*SEARCH), keys(*SEARCH, setting)) == stages


def test_thresholds_that_a_search_replaces_are_in_no_key() -> None:
    search = (*SEARCH, "tuning.theta=[[0.2], [0.6, 0.8]]")
    assert changed(keys(*search), keys(*search, "loss.theta=[0.3, 0.7]")) == set()


def test_the_stages_that_recovery_sweeps_are_those_of_the_pipeline() -> None:
    baselines = "evaluation.baselines=[bm25, paper, tfidf]"
    every = (*SEARCH, "lexicon.kind=lexicon", *ENDPOINT, baselines, "search.index=true")
    assert keys(*every, config="sample_dumps.yaml").keys() == {*stages.STAGES}


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("data.wikipedia.max_words=100", {"WikipediaGen"}),
        ("data.wikipedia.removed_words=title_and_redirects", {"WikipediaGen"}),
        ("data.negatives=7", {"WikiClirExampleGen"}),
    ],
)
def test_what_dumps_become_hangs_on_their_own_settings_alone(setting: str, stages: set[str]) -> None:
    dumps = "sample_dumps.yaml"
    assert changed(keys(config=dumps), keys(setting, config=dumps)) == stages


BASELINES = "evaluation.baselines=[bm25, paper]"


def test_the_paper_s_system_beside_another_is_trained_as_it_is_alone() -> None:
    trainers = (keys("training.epochs=30")["Trainer"], best()["PaperTrainer"])
    alone, beside = (json.loads(trainer["custom_config"]) for trainer in trainers)
    assert beside.pop("checkpoints") != alone.pop("checkpoints")
    assert beside == alone


def best(*overrides: str) -> Keys:
    """The parameters of the default preset's stages, beside which the paper's system stands."""
    return keys("preset=best", BASELINES, *overrides)


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("model.epsilon=0.5", {"Trainer", "TrainingReport", "Gate"}),
        ("loss.name=mse", {"Trainer", "TrainingReport", "Gate"}),
        ("training.epochs=3", {"Trainer", "TrainingReport", "Gate"}),
        ("training.seed=2", {"PaperTrainer", "Trainer", "TrainingReport", "Gate"}),
        ("data.used_negatives=20", {"PaperTrainer", "Trainer", "Evaluator", "Gate"}),
    ],
)
def test_the_paper_s_system_is_trained_anew_where_its_own_settings_change(setting: str, stages: set[str]) -> None:
    assert changed(best(), best(setting)) | {"Gate"} == stages


def test_only_its_name_among_the_baselines_adds_the_paper_s_system() -> None:
    assert keys(BASELINES).keys() - keys().keys() == {"PaperTrainer", "TrainedBaseline"}
    assert keys().keys() - keys("evaluation.baselines=[]").keys() == {"LexicalBaseline"}


LEXICON = "lexicon.kind=lexicon"


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("lexicon.weight=0.3", {"Trainer"}),
        ("lexicon.weight=fitted", {"Trainer"}),
        ("lexicon.kind=bm25", {"LexiconGen", "Trainer"}),
        ("lexicon.pairs=pairs.tsv", {"LexiconGen"}),
        ("lexicon.sha256.pairs=0f", {"LexiconGen"}),
        ("data.max_document_tokens=100", {"Transform", "LexicalBaseline", "LexiconGen", "Trainer"}),
        ("data.document_language=vi", {"LexiconGen"}),
        ("model.epsilon=0.5", {"Trainer", "TrainingReport"}),
    ],
)
def test_the_lexicon_is_learned_anew_where_its_words_are_others_but_not_for_its_weight(
    setting: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("wolf\tloup\n")
    assert changed(keys(LEXICON), keys(LEXICON, setting)) == stages


def test_without_a_lexicon_its_weight_is_in_no_key() -> None:
    assert changed(keys(), keys("lexicon.weight=0.3")) == set()
    assert keys(LEXICON).keys() - keys().keys() == {"LexiconGen"}


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("encoder.weight=0.3", {"Trainer"}),
        ("encoder.name=e5", set()),
        ("encoder.licence=MIT", set()),
        ("encoder.query_prefix='query: '", {"TextVectorGen"}),
        ("encoder.probes=[3, 0.5]", {"TextVectorGen"}),
    ],
)
def test_texts_are_encoded_anew_for_other_vectors_and_not_for_another_weight_or_name(
    setting: str, stages: set[str]
) -> None:
    assert changed(keys(*ENDPOINT), keys(*ENDPOINT, setting)) == stages


def test_without_an_encoder_its_settings_are_in_no_key() -> None:
    assert changed(keys(), keys("encoder.weight=0.3", "encoder.batch=8")) == set()
    assert keys(*ENDPOINT).keys() - keys().keys() == {"TextVectorGen"}


CHANNEL = "channels={lsi: {kind: cl_lsi}}"


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("channels={lsi: {kind: cl_lsi, weight: fitted}}", {"Trainer"}),
        ("channels={lsi: {kind: cl_lsi, settings: {dim: 50}}}", {"Trainer"}),
        ("data.max_document_tokens=100", {"Transform", "LexicalBaseline", "Trainer"}),
        ("data.document_language=vi", {"Trainer"}),
    ],
)
def test_a_channel_of_pairs_is_learned_anew_where_its_words_are_others(setting: str, stages: set[str]) -> None:
    assert changed(keys(CHANNEL), keys(CHANNEL, setting)) == stages


def test_an_edit_of_a_channel_changes_the_training_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed_by_an_edit("models/lexicon/cl_lsi.py", tmp_path, monkeypatch, CHANNEL) == {"Trainer"}


def test_only_a_search_adds_the_tuner() -> None:
    assert keys(*SEARCH).keys() - keys(*SEARCH, "tuning.search=null").keys() == {"Tuner"}
    assert changed(keys(), keys("tuning.epsilon=[0.5, 2]")) == set()


@pytest.mark.parametrize(
    "setting",
    [
        "embeddings.document=other.vec",
        "embeddings.query=null",
        "embeddings.sha256.query=0f",
        "embeddings.train=false",
        "model.embedding_dim=3",
        "model.vocabulary_size=10",
    ],
)
def test_what_decides_the_word_vectors_changes_the_stages_that_read_them(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("en.vec", "other.vec"):
        (tmp_path / name).write_text("the 1 2\nwolf 1 2 3\n")  # a vector of each width
    before = ("embeddings.query=en.vec", "model.embedding_dim=2")
    assert changed(keys(*before), keys(*before, setting)) - {"TrainingReport"} == {"Transform", "Trainer"}


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        (
            "schemas/wikiclir.py",
            {"CollectionGen", "WikiClirExampleGen", "LexicalBaseline", "Transform", "Trainer", "Evaluator", "Gate"},
        ),
        ("components/collection_gen/write_collection.py", {"CollectionGen"}),
        ("components/wikiclir_example_gen/sampling.py", {"WikiClirExampleGen"}),
        ("models/retrieval/bm25.py", {"LexicalBaseline"}),
        ("components/transform/preprocessing.py", {"Transform"}),
        (
            "models/texts/tokens.py",
            {"WikiClirExampleGen", "Transform", "LexicalBaseline", "Trainer", "Evaluator", "Gate"},
        ),
        (
            "schemas/word_characters.py",
            {"WikiClirExampleGen", "Transform", "LexicalBaseline", "Trainer", "Evaluator", "Gate"},
        ),
        ("models/texts/word_table.py", {"Transform", "Trainer"}),
        ("schemas/polyglot_pickle.py", {"Transform", "Trainer"}),
        ("models/losses/sosl.py", {"Trainer"}),
        ("models/losses/ranking_loss.py", {"Trainer"}),
        ("models/losses/mse.py", set()),
        ("models/layers/smooth_cosine.py", {"Trainer"}),
        ("models/layers/mean_embedding.py", {"Trainer"}),
        ("models/layers/cnn_encoder.py", set()),
        ("models/evaluation/metrics.py", {"Trainer", "Evaluator", "Gate", "TrainingReport", "Pusher"}),
        ("models/retrieval/ranking.py", {"LexicalBaseline", "Trainer", "Evaluator", "Gate"}),
        ("models/theory/theorem_3.py", {"TrainingReport"}),
        ("components/training_report/stability_report.py", {"TrainingReport"}),
        ("components/pusher/push_version.py", {"Pusher"}),
        ("components/gate.py", {"Gate"}),
        ("components/evaluator/evaluate.py", {"Evaluator"}),
        ("components/example_validator.py", {"ExampleValidator"}),
        ("pipeline/recovery.py", set()),
        ("cli/terminal.py", set()),
    ],
)
def test_an_edit_changes_the_stages_that_run_the_code_and_no_others(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_by_an_edit(file, tmp_path, monkeypatch) == stages


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("models/tuning/trial_search.py", {"Tuner"}),
        ("components/trainer/tuner.py", {"Tuner"}),
        ("components/trainer/tuner_fn.py", {"Tuner"}),
        ("components/trainer/run_fn.py", {"Trainer"}),
        ("models/exported/export.py", {"Tuner", "Trainer"}),
        ("models/training/train.py", {"Tuner", "Trainer"}),
        ("models/losses/sosl.py", {"Tuner", "Trainer"}),
    ],
)
def test_an_edit_changes_the_search_where_it_runs_the_code(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_by_an_edit(file, tmp_path, monkeypatch, *SEARCH) == stages


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("components/lexicon_gen/write_lexicon.py", {"LexiconGen"}),
        ("models/lexicon/model_1.py", {"LexiconGen"}),
        ("models/lexicon/terms.py", {"LexiconGen", "Trainer"}),
        ("models/texts/stems.py", {"Transform", "LexiconGen", "Trainer"}),
        ("models/lexicon/structured_queries.py", {"Trainer"}),
        ("models/lexicon/tf_idf.py", set()),
        ("models/lexicon/cl_lsi.py", set()),
        ("models/training/channel_weight.py", {"Trainer"}),
        ("models/rankers/fixed_scores.py", {"Trainer"}),
    ],
)
def test_an_edit_of_the_lexicons_code_changes_the_stages_that_run_it(
    file: str, stages: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed_by_an_edit(file, tmp_path, monkeypatch, LEXICON) == stages


def test_the_schemas_content_is_in_its_stages_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = tmp_path / "schema.pbtxt"
    monkeypatch.setattr("pipeline.pipeline._SCHEMA_FILE", str(schema))
    found = []
    for content in ("# one\n", "# two\n"):
        schema.write_text(content)
        found.append(keys())
    assert changed(*found) == {"ImportSchemaGen"}


@pytest.mark.parametrize("library", ["python", *identity.LIBRARIES])
def test_an_upgrade_of_what_computes_changes_every_stage(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    if library == "python":
        monkeypatch.setattr(identity.platform, "python_version", lambda: "3.10.99")
    else:
        version = identity.version
        monkeypatch.setattr(identity, "version", lambda name: "99" if name == library else version(name))
    assert changed(before, keys()) == {*STAGES}


# Real runs follow the keys

SMALL = [
    "preset=paper",
    "data.max_queries=150",
    "training.epochs=2",
    "evaluation.minimums={}",
    "evaluation.significance=0.0001",
]


class CachedRun:
    """A run that is repeated after edits: of copies of the code and the input files, or of settings."""

    def __init__(self, folder: Path, stages: Sequence[str] = STAGES) -> None:
        self._stages = stages
        self.output, self.log = folder / "out", folder / "log"
        self.code, self.data = folder / "code", folder / "data"
        copy_code(self.code)
        shutil.copytree(SAMPLE, self.data)

    def __call__(self, *settings: str) -> set[str]:
        """Runs with some settings changed; returns the stages that ran, but for those that always do."""
        files = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
        paths = [f"data.{role}={self.data / name}" for role, name in files.items()]
        overrides = self.overrides([*SMALL, *paths, f"output={self.output}", *settings])
        self.log.unlink(missing_ok=True)
        assert clir("run", "configs/sample.yaml", *overrides, log=self.log, code=self.code) == 0, self.log.read_text()
        stages = told_stages(self.log.read_text())
        assert set(stages) == set(self._stages)
        assert not any(stages[name] for name in DECIDES)
        return {name for name, cached in stages.items() if not cached} - DECIDES

    @staticmethod
    def overrides(settings: Iterable[str]) -> list[str]:
        return [f"--set={one}" for one in settings]

    @property
    def versions(self) -> int:
        """How many versions were pushed."""
        return len(list((self.output / "serving").iterdir()))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CachedRun:
    """A run that has been made once."""
    run = CachedRun(tmp_path_factory.mktemp("cache"))
    assert run() == {*STAGES} - DECIDES
    return run


def test_nothing_runs_again_where_files_were_only_touched(run: CachedRun) -> None:
    versions = run.versions
    for path in [*run.data.iterdir(), *run.code.rglob("*.py"), run.code / "schemas" / "schema.pbtxt"]:
        os.utime(path)
    assert run() == set()
    assert run.versions == versions
    assert "every stage came from the cache" in run.log.read_text()


def test_an_input_file_of_equal_size_and_time_stamp_runs_the_stages_that_read_it(run: CachedRun) -> None:
    path = run.data / "wiki_fr.documents"
    stat, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"e", b"i", 1))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run() == {*STAGES} - {"ImportSchemaGen"} - DECIDES
    path.write_bytes(content)
    assert run() == set()


def test_the_schema_runs_its_stage_and_those_that_read_it(run: CachedRun) -> None:
    path = run.code / "schemas" / "schema.pbtxt"
    content = path.read_bytes()
    path.write_bytes(content + b"\n# edited\n")
    ran = run()
    path.write_bytes(content)
    assert ran == {"ImportSchemaGen", "ExampleValidator", "Transform", "Trainer", "Evaluator", "TrainingReport"}


def test_code_of_the_theory_trains_nothing_again(run: CachedRun) -> None:
    path = run.code / "models" / "theory" / "theorem_3.py"
    content = path.read_bytes()
    path.write_bytes(content + b"\n# edited\n")
    ran = run()
    path.write_bytes(content)
    assert ran == {"TrainingReport"}
