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
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pydantic
import pytest
import yaml
from tfx.dsl.components.base.base_component import BaseComponent

from pipeline import identity
from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.identity import IDENTITY_FORM
from pipeline.input_files import resolve_digests
from pipeline.pipeline import create_pipeline
from pipeline.presets import PRESETS
from pipeline.settings_file import settings_fields
from pipeline.stages import STAGES
from schemas.settings import OneOf, Settings, section_classes
from smooth_clir.wikipedia.settings import WikipediaSettings
from tests.e2e.process import ROOT, copy_code

pytestmark = pytest.mark.stages

FIELDS = {item.name: item for item in reversed([*settings_fields(RunConfig)])}
"""Each setting by its name, that of the first kinds where kinds differ."""
KEYS = [key for key in FIELDS if not any(other.startswith(f"{key}.") for other in FIELDS)]
"""The settings that are no sections."""
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
    "data.passages": {"words": 9},
    "channels.towers.encoder.stem_embeddings": True,
    "embeddings": {"query": "/en.vec", "document": "/fr.vec"},
    "channels.lexicon": {"pairs": "/pairs", "translator": {"kind": "endpoint", "address": "http://127.0.0.1:7"}},
    "channels.encoder": {"kind": "endpoint", "address": "http://127.0.0.1:9", "query_model": "m"},
    "channels.cl_lsi": {},
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
TRANSLATORS = ("channels.lexicon.translator", "evaluation.query_translator")
NO_TRANSLATORS: Values = {
    TRANSLATORS[0]: None,
    "evaluation": {"baselines": ["bm25", "paper", "tfidf"]},
}
"""The settings that fit texts in several languages."""


NO_SEARCH: Values = {"tuning": {}}
OTHER_TOWERS: Values = {**NO_SEARCH, "embeddings": {}, "search": {}}
"""The settings that fit towers of any kind, with any encoder."""
REQUIRED: dict[str, Values] = {
    "saved_model": {"kind": "saved_model", "path": "/model"},
    "vectors": {"kind": "vectors", "query_vectors": "/q.npy", "document_vectors": "/d.npy"},
    "command": {"kind": "command", "command": [["true"]]},
    "portable": {
        "runner": "portable", "endpoint": "flink:8099", "environment": "docker", "environment_config": "image",
    },
    "dataflow": {
        "runner": "dataflow", "project": "p1", "region": "r1", "temp_location": "gs://b/t", "image": "i",
    },
}  # fmt: skip
"""Kind to a section of it, where more than the kind must be given."""


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
    """Stand-ins for the digests of code, which tell modules apart by their names."""
    monkeypatch.setattr(
        identity, "code_digest", lambda *modules: hashlib.sha256(repr(sorted(modules)).encode()).hexdigest()
    )


# Which stages read a setting: their signatures say it

SECTIONS: dict[object, str] = {WikipediaSettings: "data.wikipedia"}
"""The class of each section of settings to its name."""
SECTION_OF = {setting.rpartition(".")[2]: setting for setting in TRANSLATORS}
"""The parameters whose sections share a class."""
READ_FROM = {
    # parameters of stages
    "paths": "data.queries data.documents data.judgments data.candidates data.domains",
    "digests": "data.sha256.queries data.sha256.documents data.sha256.judgments data.sha256.candidates"
    " data.sha256.domains",
    "languages": "data.query_language data.document_language",
    "pairs_digest": "channels.lexicon.sha256.pairs",
    "wikiclir_files": "channels.lexicon.title_pairs",
    "methods": "evaluation.baselines",
    "max_domains": "training.sampling training.batch_lists",
    "serving": "output",
    "folder": "output",
    "fields": "search.fields",
    # fields of their settings
    "max_tokens": "data.max_document_tokens",
    "stem_languages": "data.query_language data.document_language channels.towers.encoder.terms"
    " channels.towers.encoder.stem_embeddings",
    "joint_stems": "channels.towers.encoder.start",
    "path": "embeddings.query embeddings.document",
    "sha256": "embeddings.sha256.query embeddings.sha256.document",
    "width": "channels.towers.embedding_dim",
    "most_words": "data.vocabulary_size",
    "channels": "channels.lexicon.kind channels.lexicon.weight channels.lexicon.in_training channels.encoder.weight"
    " channels.cl_lsi.kind channels.cl_lsi.weight channels.cl_lsi.in_training channels.cl_lsi.dim channels.own",
    "documents": "",
}
"""The settings behind the parameters and fields that are not named after their setting."""
PLAIN = ("data", "channels.lexicon", "embeddings", "adversary", "evaluation")
"""The sections that parameters and fields are named after; the first that has the name counts."""
READ_TOO = {"Transform": "adversary.held_out_texts", "WikipediaGen": "data.sha256.wikipedia"}
"""Settings that decide the values of a stage's parameters, and have no parameter of their own."""
NOT_READ = {
    "WikipediaGen": r"channels\.lexicon\.title_pairs|data\.sha256\.(?!wikipedia)\w+",
    "CollectionGen": "channels.lexicon.title_pairs",
    "WikiClirExampleGen": "data.passages",
    "PaperTrainer": r"(?!data\.|training\.(seed|device|replicas|workers)$).*|data\.(max_bad_share|vocabulary_size)",
    "Trainer": r"tuning\..*",
    "Tuner": r"feedback\..*",
    "TextVectorGen": r"channels\.encoder\.(name|licence|weight)",
    "Pusher": r"beam\..*|kubeflow\..*",
}
"""Patterns of settings that a stage's signature names and the stage does not get."""


def sections_in(settings: type[Settings], prefix: str = "") -> Iterator[tuple[object, str]]:
    for name, field in settings.model_fields.items():
        for section in section_classes(field.annotation):
            yield section, f"{prefix}{name}"
            yield from sections_in(section, f"{prefix}{name}.")


SECTIONS |= dict(sections_in(RunConfig))


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
        read = {*KEYS, "channels.own"}  # they stand in the model's card
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


def needed_for(setting: str) -> Values:
    """The settings that a section must have to be of the first kind with a setting; none where the sample's has it."""
    section, _, name = setting.rpartition(".")
    if not FIELDS[setting].kinds or hasattr(attrgetter(section)(configuration({})), name):
        return {}
    kind, beside = FIELDS[setting].kinds[0], OTHER_TOWERS if section.startswith("channels.towers") else {}
    if kind == "vectors":  # of whole documents
        beside = {"data.passages": None}
    return {section: REQUIRED.get(kind, {"kind": kind}), **beside}


def another_value(setting: str, needed: Values) -> Values:
    """A setting with the first valid value that is not the sample's."""
    field, section = FIELDS[setting].field, FIELDS[setting].section
    kind = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    value: Any = attrgetter(setting)(configuration(needed))
    choices = [*section.kinds] if section else choices_of(kind)
    for candidate in [not value] if isinstance(value, bool) else [*choices, 2, 1, 64, 0.25, "/another"]:
        try:
            if candidate != value and configuration({**needed, setting: candidate}):
                return {setting: candidate}
        except pydantic.ValidationError:
            continue
    raise AssertionError(f"{setting} needs another value in OTHER_VALUES")


OTHER_VALUES: list[tuple[Values, Values]] = [
    ({"data.wikipedia": {**DUMPS["data.wikipedia"], "max_words": 9}}, DUMPS),
    ({"data.sha256.wikipedia": {"en.pages": "0f"}}, DUMPS),
    ({"channels.lexicon.title_pairs": True}, DUMPS),
    ({"channels.lexicon.title_pairs_weight": 2}, {**DUMPS, "channels.lexicon.title_pairs": True}),
    ({"data.held_out": ["sport"]}, {}),
    ({"data.top_grade": 3}, {"loss": "softmax"}),
    ({"data.passages": {"words": 8}}, {}),
    ({"data.query_language": "de"}, {}),
    ({"data.document_language": "de"}, {}),
    ({"channels.towers.kind": "cossim"}, {"channels.towers": {}, **OTHER_TOWERS}),
    ({"channels.towers.encoder.kind": "cnn"}, {"channels.towers.encoder": {}}),
    (
        {"channels.towers.encoder.start": "lexicon"},
        {"channels.towers.encoder": {"kind": "polynomial", "terms": "stems"}, **OTHER_TOWERS},
    ),
    ({"channels.towers.similarity": "cosine"}, NO_SEARCH),
    ({"channels.towers.epsilon": 2}, NO_SEARCH),
    ({"channels.lexicon.kind": "bm25"}, {"channels.lexicon": {}}),
    *(({translator: REQUIRED["command"]}, {}) for translator in TRANSLATORS),
    *(({f"{translator}.command": [["false"]]}, {translator: REQUIRED["command"]}) for translator in TRANSLATORS),
    *(({f"{translator}.address": "http://127.0.0.1:6"}, {}) for translator in TRANSLATORS),
    *(({f"{translator}.key_variable": "CLIR_KEY"}, {}) for translator in TRANSLATORS),
    ({"channels.encoder.address": "http://127.0.0.1:8"}, {}),
    ({"channels.encoder.key_variable": "CLIR_KEY"}, {}),
    ({"channels.encoder.weight": 0.2}, {}),
    ({"channels.encoder.probes": [2.0]}, {}),
    ({"channels.own": {"kind": "cl_lsi"}}, {}),
    ({"feedback.documents": 5}, {"feedback.gain": 12}),
    ({"loss.kind": "mse"}, {"loss": {}}),
    ({"loss.theta": [0.3, 0.6]}, {}),
    ({"training.objective.kind": "in_batch"}, {"training.objective": {"kind": "lists"}}),
    ({"training.epochs": 3}, {"tuning.epochs": None}),
    ({"training.best_metric": "map"}, {}),
    ({"evaluation.metrics": ["ndcg_10"]}, {}),
    ({"evaluation.compared_metric": "map"}, {}),
    ({"tuning.epsilon": [0.5, 3]}, {}),
    ({"tuning.theta": [[0.1, 0.3], [0.5, 0.6]]}, {"tuning.theta": [[0.1, 0.2], [0.5, 0.6]]}),
    ({"evaluation.baselines": ["bm25", "paper", "translated_rm3"]}, {}),
    ({"evaluation.minimums": {"map": 0.5}}, {}),
    ({"search.milvus.address": "milvus://localhost/others"}, {}),
    ({"search.fields": ["lang"]}, {}),
    ({"kubeflow.image": "i", "kubeflow.pipeline_root": "gs://b/r", "kubeflow.volumes": {"a": "/a"}}, {}),
    ({"kubeflow.resources": {"Trainer": {"cpu": 1}}}, {}),
    *(({f"beam.{name}": value for name, value in REQUIRED[kind].items()}, {}) for kind in ("portable", "dataflow")),
    ({"beam.options": {"a": "1"}}, {"beam": REQUIRED["portable"]}),
    ({"beam.image": None, "beam.setup_file": "/setup.py"}, {"beam": REQUIRED["dataflow"]}),
]
"""Values that no rule finds, and the other settings that they need."""
SWITCHES: list[tuple[Values, Values, str]] = [
    ({"search": {}}, {}, "CorpusIndexer IndexPusher SearchEvaluator"),
    ({"search.engine": "local", "search.milvus": {}}, {}, "IndexPusher SearchEvaluator"),
    (
        {"data.document_language": "de+fr"},
        NO_TRANSLATORS,
        "CollectionGen WikiClirExampleGen Transform LexiconGen Rivals Trainer PaperTrainer Tuner Evaluator "
        "CorpusIndexer",
    ),
    ({"tuning": {}}, {}, "Tuner Trainer TrainingReport"),
    ({"channels.encoder": None}, {}, "TextVectorGen Tuner Trainer Evaluator Gate CorpusIndexer SearchEvaluator"),
    ({"channels.encoder": "use_multilingual"}, {}, "TextVectorGen Evaluator Gate"),
    ({"channels.lexicon": None}, {}, "TranslationGen LexiconGen Tuner Trainer"),
    ({"channels.lexicon.translator": None}, {}, "TranslationGen LexiconGen"),
    (
        {"evaluation.baselines": [], "evaluation.query_translator": None},
        {},
        "LexicalBaseline PaperTrainer TrainedBaseline Rivals Evaluator Gate",
    ),
    # a weight that is fitted on domains which are left out in turn
    ({"channels.lexicon.weight": "held_out"}, {}, "DomainValidator LexiconGen Trainer"),
    # settings that others replace, or make useless
    ({"channels.towers.epsilon": 2}, {}, ""),
    ({"loss.theta": [0.3, 0.6]}, {"tuning.theta": [[0.1, 0.3], [0.5, 0.6]]}, ""),
    ({"training.epochs": 4}, {}, "Trainer TrainingReport"),
    ({"tuning.epochs": 4, "tuning.epsilon": [0.5, 3]}, NO_SEARCH, ""),
    ({"feedback.documents": 5}, {}, ""),
    ({"adversary.hidden": 8}, {"adversary.weight": 0}, ""),
    ({"embeddings.train": False}, {"embeddings": {}}, ""),
    ({"data.vocabulary_size": 2}, {"embeddings": {}}, "Transform Rivals"),
]
"""Settings that switch stages or inputs on and off, or have no part in a run."""
WIRING = {"search.index", "search.engine"}
"""The settings that decide which stages there are, and stand in no stage's own settings."""
SPECIAL = {setting for values, _ in OTHER_VALUES for setting in values} | {
    *WIRING,
    *(f"{section}.kind" for section in ("channels.encoder", "channels.cl_lsi", *TRANSLATORS)),
}


def check_readers(values: Values, needed: Values) -> None:
    """Other values change the keys of the stages that read their settings, and no others."""
    before, after = configuration(needed), configuration({**needed, **values})
    stages = create_pipeline(before, "/artifacts", "", "").components
    assert changed(keys(before), keys(after)) == {
        stage.id
        for stage in stages
        if any(f"{key}.".startswith(f"{value}.") for key in read_by(type(stage), stage.id) for value in values)
    }


@pytest.mark.parametrize("setting", [setting for setting in KEYS if setting not in SPECIAL])
def test_a_setting_changes_the_keys_of_the_stages_that_read_it_and_no_others(setting: str) -> None:
    needed = needed_for(setting)
    check_readers(another_value(setting, needed), needed)


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
        *("preset", "channels.encoder.name", "channels.encoder.licence", "search.example_queries", *WIRING),
        *(setting for setting in KEYS if setting.startswith(("beam.", "kubeflow."))),
    }


@pytest.mark.parametrize(("values", "needed", "stages"), SWITCHES, ids=[", ".join(values) for values, *_ in SWITCHES])
def test_a_switch_changes_the_stages_that_it_adds_or_feeds(values: Values, needed: Values, stages: str) -> None:
    before, after = configuration(needed), configuration({**needed, **values})
    assert changed(keys(before), keys(after)) - {"Pusher"} == set(stages.split())


CHANNELS: dict[str, Values] = {
    "the towers' alone": {"lexicon": None},
    "the preset's": {},
    "CL-LSI": {"cl_lsi": {}},
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
    content = yaml.safe_load((ROOT / "configs" / "sample.yaml").read_text())
    data = {"query_language": "de", "top_grade": 3, "max_document_tokens": 9, "seed": 7, "used_negatives": 3}
    sections = {"loss": {"theta": [0.2, 0.4, 0.6]}} if preset in ("paper", "best", "closed") else {}
    sections |= {"evaluation": {"baselines": ["paper"]}}
    config = RunConfig.model_validate(
        {
            **content,
            "preset": preset,
            "data": {**content["data"], **data},
            **sections,
            "channels": {"encoder": None, **channels},
        }
    )
    for stage in create_pipeline(config, "/artifacts", "", "").components:
        its = config.paper_baseline() if stage.id == "PaperTrainer" else config
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
            "PassageGen WikiClirExampleGen LexicalBaseline LexiconGen Rivals Transform PaperTrainer Tuner Trainer "
            "TrainedBaseline Evaluator Gate CorpusIndexer IndexPusher SearchEvaluator",
        ),
        (
            "models/evaluation/metrics.py",
            "Rivals PaperTrainer Tuner Trainer Evaluator TrainingReport Gate Pusher SearchEvaluator",
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
