"""The cache's keys: a setting or an edit changes those of the stages that read it, and of no others; no stage runs."""

import dataclasses
import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pydantic
import pytest
import yaml
from tfx.dsl.components.base.base_component import BaseComponent

from models.choices import OPTIMIZERS, Declaration, DrawnSettings
from pipeline import identity
from pipeline.config import RunConfig, load_config
from pipeline.identity import IDENTITY_FORM
from pipeline.input_files import resolve_digests
from pipeline.pipeline import create_pipeline
from pipeline.presets import PRESETS
from pipeline.settings_file import known_keys, settings_fields
from pipeline.stages import STAGES
from schemas.settings import OneOf, Settings
from smooth_clir.wikipedia.settings import WikipediaSettings
from tests.e2e.process import ROOT, copy_code

pytestmark = pytest.mark.stages

KEYS = known_keys(RunConfig)
CODE_DIGEST = identity.code_digest
Values = Mapping[str, Any]
"""Values by their dotted settings."""
Keys = dict[str, dict[str, object]]
"""Stage to the parameters that its key is made of."""


def keys(config: RunConfig, cell: str | None = None) -> Keys:
    """The parameters of each stage, and the stages whose outputs it reads."""
    pipeline = create_pipeline(config, "/artifacts", f"{config.output}/serving", f"{config.output}/index", cell)
    return {
        stage.id: stage.exec_properties
        | {name: (channel.producer_component_id, channel.output_key) for name, channel in stage.inputs.items()}
        for stage in pipeline.components
    }


def changed(before: Keys, after: Keys) -> set[str]:
    """The stages with another key, and those that only one of both has."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


# The configurations

EVERY_STAGE: Values = {
    "data.domains": "/domains",
    "data.held_out": ["news"],
    "model.stem_embeddings": True,
    "embeddings": {"query": "/en.vec", "document": "/fr.vec"},
    "lexicon": {
        "kind": "lexicon",
        "pairs": "/pairs",
        "translator": {"kind": "endpoint", "address": "http://127.0.0.1:7"},
    },
    "encoder": {"kind": "endpoint", "address": "http://127.0.0.1:9", "query_model": "m"},
    "channels": {"lsi": {"kind": "cl_lsi"}},
    "adversary.weight": 0.5,
    "training.sampling": "equal",
    "tuning": {"search": "random", "trials": 3, "epochs": 3, "epsilon": [0.5, 2]},
    "evaluation.baselines": ["bm25", "paper", "tfidf", "translated_bm25"],
    "evaluation.query_translator": {"kind": "endpoint", "address": "http://127.0.0.1:7"},
    "search": {"index": True, "engine": "milvus", "milvus": {"address": "milvus://localhost/pages"}},
}
"""Over the sample with the paper's preset, in whose pipeline only dumps lack a stage."""
DUMPS: Values = {
    **dict.fromkeys(["data.queries", "data.documents", "data.judgments", "data.domains"]),
    "data.held_out": [],
    "data.wikipedia": {"wikis": {"en": {"pages": "/en.xml", "language_links": "/en.sql"}, "fr": {"pages": "/fr.xml"}}},
    "adversary.weight": 0,
    "training.sampling": "natural",
}
SAVED_MODEL: Values = {"encoder": {"kind": "saved_model", "path": "/model"}}
TRANSLATORS = ("lexicon.translator", "evaluation.query_translator")


def translator_changes(setting: str) -> Iterator[tuple[Values, Values]]:
    """Other values of a translator, and what they need."""
    yield {f"{setting}.kind": "command", f"{setting}.command": [["true"]], f"{setting}.address": None}, {}
    yield {f"{setting}.command": [["false"]]}, {setting: {"kind": "command", "command": [["true"]]}}
    yield {f"{setting}.address": "http://127.0.0.1:6"}, {}
    yield {f"{setting}.key_variable": "CLIR_KEY"}, {}
    yield {f"{setting}.probe": "a"}, {}


VECTORS: Values = {"encoder": {"kind": "vectors", "query_vectors": "/q.npy", "document_vectors": "/d.npy"}}
NO_SEARCH: Values = {"tuning": {}}
WITHOUT_THRESHOLDS: Values = {"loss": {"name": "softmax"}}
POLYNOMIAL: Values = {"model.encoder": "polynomial", "model.stem_embeddings": False, "embeddings": {}}
PORTABLE: Values = {"runner": "portable", "endpoint": "flink:8099", "environment": "docker"}
DATAFLOW: Values = {"runner": "dataflow", "project": "p1", "region": "r1", "temp_location": "gs://b/t"}


@cache
def sample() -> str:
    """The sample's resolved configuration with every stage, as JSON."""
    paper = load_config(str(ROOT / "configs" / "sample.yaml"), ["preset=paper"]).model_dump(mode="json")
    return configuration(EVERY_STAGE, paper).model_dump_json()


def configuration(values: Values, content: dict[str, Any] | None = None) -> RunConfig:
    """The sample's configuration with some other values."""
    content = content or json.loads(sample())
    for setting, value in values.items():
        *sections, key = setting.split(".")
        target = content
        for section in sections:
            target = target[section]
        target[key] = deepcopy(value)
    return RunConfig.model_validate(content)


@pytest.fixture(autouse=True)
def quick_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for the digests of code, which tell modules apart by their names; and a second optimizer."""
    monkeypatch.setattr(
        identity, "code_digest", lambda *modules: hashlib.sha256(repr(sorted(modules)).encode()).hexdigest()
    )
    monkeypatch.setitem(OPTIMIZERS, "another", Declaration("models.optimizers.another", DrawnSettings))


# Which stages read a setting: their signatures say it

SECTIONS: dict[object, str] = {WikipediaSettings: "data.wikipedia"}
"""The class of each section of settings to its name."""
SECTION_OF = {setting.partition(".")[2]: setting for setting in TRANSLATORS}
"""The parameters whose sections share a class."""
READ_FROM = {
    # parameters of stages
    "paths": "data.queries data.documents data.judgments data.candidates data.domains",
    "digests": "data.sha256.queries data.sha256.documents data.sha256.judgments data.sha256.candidates"
    " data.sha256.domains",
    "languages": "data.query_language data.document_language",
    "pairs_digest": "lexicon.sha256.pairs",
    "wikiclir_files": "lexicon.title_pairs",
    "methods": "evaluation.baselines",
    "most": "training.sampling training.batch_lists",
    "serving": "output",
    "folder": "output",
    # fields of their settings
    "max_tokens": "data.max_document_tokens",
    "stem_languages": "data.query_language data.document_language model.terms model.stem_embeddings",
    "joint_stems": "model.start",
    "path": "embeddings.query embeddings.document",
    "sha256": "embeddings.sha256.query embeddings.sha256.document",
    "width": "model.embedding_dim",
    "most_words": "model.vocabulary_size",
    "channels": "channels lexicon.kind lexicon.weight lexicon.in_training encoder.head encoder.weight",
    "documents": "",
}
"""The settings behind the parameters and fields that are not named after their setting."""
PLAIN = ("data", "lexicon", "model", "embeddings", "adversary", "evaluation")
"""The sections that parameters and fields are named after; the first that has the name counts."""
READ_TOO = {"Transform": "adversary.held_out_texts", "WikipediaGen": "data.sha256.wikipedia"}
"""Settings that decide the values of a stage's parameters, and have no parameter of their own."""
NOT_READ = {
    "WikipediaGen": r"lexicon\.title_pairs|data\.sha256\.(?!wikipedia)\w+",
    "CollectionGen": "lexicon.title_pairs",
    "PaperTrainer": r"(?!data\.|training\.(seed|device|replicas|workers)$).*|data\.max_bad_share",
    "Trainer": r"tuning\..*",
    "Tuner": r"feedback\..*",
    "TrainingReport": "model.vocabulary_size",
    "TextVectorGen": r"encoder\.(name|licence|head|weight)",
    "Pusher": r"beam\..*|kubeflow\..*",
}
"""Patterns of settings that a stage's signature names and the stage does not get."""


def section_classes(settings: type[Settings], prefix: str = "") -> Iterator[tuple[object, str]]:
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type(Settings)):
            yield field.annotation, f"{prefix}{name}"
            yield from section_classes(field.annotation, f"{prefix}{name}.")


SECTIONS |= dict(section_classes(RunConfig))


def settings_behind(name: str, kind: Any) -> set[str]:
    """The settings that a parameter of a stage, or a field of its settings, is made of."""
    if isinstance(kind, list):  # the arguments of a function
        return set()
    if section := SECTION_OF.get(name, SECTIONS.get(kind)):
        return {key for key in KEYS if f"{key}.".startswith(f"{section}.")}
    if name in READ_FROM:
        return set(READ_FROM[name].split())
    if isinstance(kind, type(Settings)):
        parts = [(key, field.annotation) for key, field in kind.model_fields.items()]
    elif dataclasses.is_dataclass(kind):
        parts = [*get_type_hints(kind).items()]
    else:
        parts = [(name, argument) for argument in get_args(kind)]
    plain = [key for section in PLAIN if (key := f"{section}.{name}") in KEYS][:1]
    return {*plain, *(key for field, annotation in parts for key in settings_behind(field, annotation))}


@cache
def read_by(stage: type, name: str) -> frozenset[str]:
    """The settings that a stage reads, by the signature of its function, or of its component where that is TFX's."""
    function = getattr(stage, "test_call", None) or stage.__init__
    hints = get_type_hints(function) if inspect.isfunction(function) else {}
    read = {key for parameter, kind in hints.items() for key in settings_behind(parameter, kind)}
    if name == "Pusher":
        read = {*KEYS}  # they stand in the model's card
    read |= set(READ_TOO.get(name, "").split())
    return frozenset(key for key in read if not re.fullmatch(NOT_READ.get(name, "-"), key))


# Another value of each setting


def choices_of(kind: Any) -> list[Any]:
    """The choices of a type, and of those that it is made of."""
    if get_origin(kind) is Literal:
        return [*get_args(kind)]
    tables = (getattr(validator, "func", None) for validator in getattr(kind, "__metadata__", ()))
    named = [choice for table in tables if isinstance(table, OneOf) for choice in table.choices]
    return named + [choice for part in get_args(kind) for choice in choices_of(part)]


def another_value(setting: str) -> Values:
    """A setting with the first valid value that is not the sample's."""
    field = dict(settings_fields(RunConfig))[setting]
    kind = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    value: Any = configuration({})
    for name in setting.split("."):
        value = getattr(value, name)
    for candidate in [not value] if isinstance(value, bool) else [*choices_of(kind), 2, 1, 64, 0.25, "/another"]:
        try:
            if candidate != value and configuration({setting: candidate}):
                return {setting: candidate}
        except pydantic.ValidationError:
            continue
    raise AssertionError(f"{setting} needs another value in OTHER_VALUES")


OTHER_VALUES: list[tuple[Values, Values]] = [
    ({"data.wikipedia": {**DUMPS["data.wikipedia"], "max_words": 9}}, DUMPS),
    ({"data.sha256.wikipedia": {"en.pages": "0f"}}, DUMPS),
    ({"lexicon.title_pairs": True}, DUMPS),
    ({"lexicon.title_pairs_weight": 2}, {**DUMPS, "lexicon.title_pairs": True}),
    ({"data.held_out": ["sport"]}, {}),
    ({"data.top_grade": 3}, WITHOUT_THRESHOLDS),
    ({"data.query_language": "de"}, {}),
    ({"data.document_language": "de"}, {}),
    ({"model.scorer": "cossim"}, {**NO_SEARCH, "model.stem_embeddings": False}),
    ({"model.scorer_settings": {"units": 8}}, {**NO_SEARCH, "model.stem_embeddings": False, "model.scorer": "cossim"}),
    ({"model.encoder": "cnn"}, {"model.stem_embeddings": False}),
    ({"model.encoder_settings": {"filters": 8}}, {"model.stem_embeddings": False, "model.encoder": "cnn"}),
    ({"model.terms": "stems"}, POLYNOMIAL),
    ({"model.start": "lexicon"}, {**POLYNOMIAL, "model.terms": "stems"}),
    ({"model.similarity": "cosine"}, NO_SEARCH),
    ({"model.epsilon": 2}, NO_SEARCH),
    ({"lexicon.kind": "bm25"}, {"lexicon": {"kind": "lexicon"}}),
    *(pair for translator in TRANSLATORS for pair in translator_changes(translator)),
    ({"encoder.signature": "s"}, SAVED_MODEL),
    ({"encoder.output": "o"}, SAVED_MODEL),
    ({"encoder.path": "/another"}, SAVED_MODEL),
    ({"encoder.query_vectors": "/another"}, VECTORS),
    ({"encoder.document_vectors": "/another"}, VECTORS),
    ({"encoder.address": "http://127.0.0.1:8"}, {}),
    ({"encoder.key_variable": "CLIR_KEY"}, {}),
    (
        {"encoder.head": "linear", "model.scorer": "encoder_head"},
        {**NO_SEARCH, "model.stem_embeddings": False, "embeddings": {}},
    ),
    ({"encoder.weight": 0.2}, {}),
    ({"encoder.probes": [2.0]}, {}),
    ({"channels": {"lsi": {"kind": "cl_lsi", "settings": {"dim": 50}}}}, {}),
    ({"feedback.documents": 5}, {"feedback.gain": 12}),
    ({"loss.settings": {"margin": 0.5}}, {"loss": {"name": "worst_hinge"}}),
    ({"loss.theta": [0.3, 0.6]}, {}),
    ({"training.objective_settings": {"documents": 2}}, {"training.objective": "drawn"}),
    ({"training.optimizer_settings": {"documents": 2}}, {"training.optimizer": "another"}),
    ({"training.epochs": 3}, {"tuning.epochs": None}),
    ({"tuning.epsilon": [0.5, 3]}, {}),
    ({"tuning.theta": [[0.1, 0.3], [0.5, 0.6]]}, {}),
    ({"evaluation.baselines": ["bm25", "paper", "translated_rm3"]}, {}),
    ({"evaluation.minimums": {"map": 0.5}}, {}),
    ({"search.milvus.address": "milvus://localhost/others"}, {}),
    ({"kubeflow.image": "i", "kubeflow.pipeline_root": "gs://b/r", "kubeflow.volumes": {"a": "/a"}}, {}),
    ({"kubeflow.resources": {"Trainer": {"cpu": 1}}}, {}),
    ({"beam.environment_config": "another"}, {"beam": {**PORTABLE, "environment_config": "image"}}),
    ({f"beam.{name}": value for name, value in {**PORTABLE, "environment_config": "image"}.items()}, {}),
    ({"beam.parallelism": 2, "beam.options": {"a": "1"}}, {"beam": {**PORTABLE, "environment_config": "image"}}),
    ({f"beam.{name}": value for name, value in {**DATAFLOW, "image": "i"}.items()}, {}),
    ({"beam.image": None, "beam.setup_file": "/setup.py"}, {"beam": {**DATAFLOW, "image": "i"}}),
]
"""Values that no rule finds, and the other settings that they need."""
SWITCHES: list[tuple[Values, Values, str]] = [
    ({"search": {}}, {}, "CorpusIndexer IndexPusher SearchEvaluator"),
    ({"search.engine": "local", "search.milvus": {}}, {}, "IndexPusher SearchEvaluator"),
    ({"tuning": {}}, {}, "Tuner Trainer TrainingReport"),
    ({"encoder": {"kind": "none"}}, {}, "TextVectorGen Tuner Trainer Evaluator Gate CorpusIndexer SearchEvaluator"),
    ({"encoder": {"kind": "use_multilingual"}}, {}, "TextVectorGen Evaluator Gate"),
    ({"lexicon": {"kind": "none"}}, {}, "TranslationGen LexiconGen Tuner Trainer"),
    ({"lexicon.translator": {}}, {}, "TranslationGen LexiconGen"),
    (
        {"evaluation.baselines": [], "evaluation.query_translator": {}},
        {},
        "LexicalBaseline PaperTrainer TrainedBaseline Rivals Evaluator Gate",
    ),
    # a weight that is fitted on domains which are left out in turn
    ({"lexicon.weight": "held_out"}, {}, "DomainValidator LexiconGen Trainer"),
    # settings that others replace, or make useless
    ({"model.epsilon": 2}, {}, ""),
    ({"loss.theta": [0.3, 0.6]}, {"tuning.theta": [[0.1, 0.3], [0.5, 0.6]]}, ""),
    ({"training.epochs": 4}, {}, "Trainer TrainingReport"),
    ({"tuning.epochs": 4, "tuning.epsilon": [0.5, 3]}, NO_SEARCH, ""),
    ({"lexicon.weight": 0.2}, {"lexicon": {"kind": "none"}}, ""),
    ({"encoder.weight": 0.2, "encoder.batch": 8}, {"encoder": {"kind": "none"}}, ""),
    ({"feedback.documents": 5}, {}, ""),
    ({"adversary.hidden": 8}, {"adversary.weight": 0}, ""),
    ({"embeddings.train": False}, {"embeddings": {}}, ""),
    ({"model.vocabulary_size": 2}, {"embeddings": {}}, "Transform Rivals"),
]
"""Settings that switch stages or inputs on and off, or have no part in a run."""
WIRING = {"search.index", "search.engine"}
"""The settings that decide which stages there are, and stand in no stage's own settings."""
SPECIAL = {setting for values, _ in OTHER_VALUES for setting in values} | {*WIRING, "encoder.kind"}


def check_readers(values: Values, needed: Values) -> None:
    """Other values change the keys of the stages that read their settings, and no others."""
    before, after = configuration(needed), configuration({**needed, **values})
    stages = create_pipeline(before, "/artifacts", "", "").components
    assert changed(keys(before), keys(after)) == {
        stage.id for stage in stages if read_by(type(stage), stage.id) & values.keys()
    }


@pytest.mark.parametrize("setting", [setting for setting in KEYS if setting not in SPECIAL])
def test_a_setting_changes_the_keys_of_the_stages_that_read_it_and_no_others(setting: str) -> None:
    check_readers(another_value(setting), {})


@pytest.mark.parametrize(
    ("values", "needed"), [pytest.param(values, needed, id=", ".join(values)) for values, needed in OTHER_VALUES]
)
def test_settings_that_need_others_change_the_keys_of_the_stages_that_read_them(values: Values, needed: Values) -> None:
    check_readers(values, needed)


def test_no_setting_is_without_a_reader_but_those_that_are_known_to_change_no_result() -> None:
    stages = [
        stage
        for needed in ({}, DUMPS)
        for stage in create_pipeline(configuration(needed), "/artifacts", "", "").components
        if stage.id != "Pusher"
    ]
    read = {setting for stage in stages for setting in read_by(type(stage), stage.id)}
    assert {setting for setting in KEYS if setting not in read} == {
        *("preset", "encoder.name", "encoder.licence", "search.example_queries", *WIRING),
        *(setting for setting in KEYS if setting.startswith(("beam.", "kubeflow."))),
    }


@pytest.mark.parametrize(("values", "needed", "stages"), SWITCHES, ids=[", ".join(values) for values, *_ in SWITCHES])
def test_a_switch_changes_the_stages_that_it_adds_or_feeds(values: Values, needed: Values, stages: str) -> None:
    before, after = configuration(needed), configuration({**needed, **values})
    assert changed(keys(before), keys(after)) - {"Pusher"} == set(stages.split())


CHANNELS: dict[str, Values] = {
    "the model's alone": {"lexicon": {"kind": "none"}, "model": {"start": "random"}},
    "the preset's": {},
    "CL-LSI": {"channels": {"lsi": {"kind": "cl_lsi"}}},
    "an encoder's": {"encoder": {"kind": "endpoint", "address": "http://127.0.0.1:9", "query_model": "m"}},
}
"""Settings of the channels of a score."""


def settings_of(stage: BaseComponent) -> dict[str, Any]:
    """The settings that a stage gets, by their names; a setting that is null has no property."""
    function = getattr(stage, "test_call", None)
    nulls = dict.fromkeys(inspect.signature(function).parameters if function else ())
    properties = {name: parsed(value) for name, value in stage.exec_properties.items()}
    return {**nulls, **properties, **(properties.get("settings") or {}), **(properties.get("custom_config") or {})}


def parsed(value: Any) -> Any:
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.parametrize("channels", CHANNELS.values(), ids=CHANNELS.keys())
@pytest.mark.parametrize("preset", PRESETS)
def test_a_stage_gets_what_the_configuration_says_whatever_else_is_set(preset: str, channels: Values) -> None:
    content = {**yaml.safe_load((ROOT / "configs" / "sample.yaml").read_text()), "encoder": {"kind": "none"}}
    data = {"query_language": "de", "top_grade": 3, "max_document_tokens": 9, "seed": 7, "used_negatives": 3}
    sections = {"loss": {"theta": [0.2, 0.4, 0.6]}} if preset in ("paper", "best", "closed") else {}
    sections |= {"evaluation": {"baselines": ["paper"]}}
    config = RunConfig.model_validate(
        {**content, "preset": preset, "data": {**content["data"], **data}, **sections, **channels}
    )
    for stage in create_pipeline(config, "/artifacts", "", "").components:
        its = config.paper_beside() if stage.id == "PaperTrainer" else config
        said = {
            **its.data.model_dump(mode="json", exclude={"documents"}),  # what an executor counts has the name, too
            **its.model_dump(mode="json", include={"loss", "training", "adversary"}),
            "languages": [*its.data.languages],
            "rules": its.data.word_rules.model_dump(),
        }
        got = settings_of(stage)
        names = got.keys() & said.keys()
        assert {name: got[name] for name in names} == {name: said[name] for name in names}, stage.id


def test_the_stages_that_recovery_sweeps_are_those_of_the_pipeline() -> None:
    assert keys(configuration(DUMPS)).keys() == {*STAGES}


def test_a_cell_of_an_experiment_pushes_nothing_and_evaluates_its_search() -> None:
    assert keys(configuration({}), cell="a").keys() == keys(configuration({})).keys() - {"Pusher", "IndexPusher"}


def test_the_paper_s_system_beside_another_is_trained_as_it_is_alone() -> None:
    alone = load_config(str(ROOT / "configs" / "sample.yaml"), ["preset=paper", "training.epochs=30"])
    beside = load_config(str(ROOT / "configs" / "sample.yaml"), ["preset=best", "evaluation.baselines=[paper]"])
    trainers = keys(alone)["Trainer"], keys(beside)["PaperTrainer"]
    job, paper_job = (json.loads(str(trainer["custom_config"])) for trainer in trainers)
    assert job.pop("checkpoints") != paper_job.pop("checkpoints")
    assert job == paper_job


# Edits of inputs and of the code


def test_an_input_of_equal_size_and_time_but_other_content_changes_the_key_of_its_stage(config_file: Path) -> None:
    path = config_file.parent / "wiki.documents"
    before, stat = keys(resolve_digests(load_config(str(config_file)))), path.stat()
    path.write_bytes(path.read_bytes().replace(b"e", b"i", 1))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert changed(before, keys(resolve_digests(load_config(str(config_file))))) == {"CollectionGen", "Pusher"}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, to edit."""
    return copy_code(tmp_path_factory.mktemp("code"))


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("schemas/schema.pbtxt", "ImportSchemaGen"),
        (
            "models/texts/tokens.py",
            "WikiClirExampleGen LexicalBaseline TranslationGen LexiconGen Rivals TextVectorGen Transform PaperTrainer "
            "Tuner TrainedBaseline Trainer CorpusIndexer Evaluator Gate IndexPusher SearchEvaluator",
        ),
        (
            "models/evaluation/metrics.py",
            "Rivals PaperTrainer Tuner Trainer Evaluator TrainingReport Gate Pusher",
        ),
        ("models/losses/sosl.py", "PaperTrainer Tuner Trainer"),
        ("models/losses/mse.py", ""),
        ("models/lexicon/cl_lsi.py", "Rivals Tuner Trainer"),
        ("models/lexicon/model_1.py", "LexiconGen Rivals"),
        ("smooth_clir/retrieval/bm25.py", "LexicalBaseline SearchEvaluator"),
        ("models/theory/theorem_3.py", "TrainingReport"),
        ("components/trainer/run_fn.py", "PaperTrainer Trainer"),
        ("components/trainer/tuner_fn.py", "Tuner"),
        ("components/gate.py", "Gate"),
        ("pipeline/recovery.py", ""),
        ("smooth_clir/cli/terminal.py", ""),
    ],
)
def test_an_edit_changes_the_keys_of_the_stages_that_run_the_code_and_of_no_others(
    file: str, stages: str, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "code_digest", CODE_DIGEST)
    monkeypatch.setattr(identity, "_ROOT", code)
    monkeypatch.setattr("pipeline.pipeline._SCHEMA_FILE", str(code / "schemas" / "schema.pbtxt"))
    before = keys(configuration({}))
    content = (code / file).read_bytes()
    kept = {}
    for edit in (b"\n# EDITED = 1\n", b"\nEDITED = 1\n"):
        (code / file).write_bytes(content + edit)
        kept[edit] = keys(configuration({}))
    (code / file).write_bytes(content)
    sentence, statement = kept.values()
    assert changed(before, statement) == set(stages.split())
    assert changed(before, sentence) == ({"ImportSchemaGen"} if file.endswith("pbtxt") else set())
    assert all(IDENTITY_FORM.fullmatch(str(parameters["identity"])) for parameters in statement.values())
