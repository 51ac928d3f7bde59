"""The pipeline: stages from WikiCLIR files to a pushed model. The same graph runs locally and on Kubeflow."""

import os
from dataclasses import fields
from typing import Any, Final

from tfx.components.schema_gen.import_schema_gen.component import ImportSchemaGen
from tfx.dsl.components.base.base_component import BaseComponent
from tfx.orchestration import pipeline
from tfx.proto import trainer_pb2

from components.collection_gen.component import CollectionGen
from components.corpus_indexer.component import CorpusIndexer
from components.evaluator.component import Evaluator
from components.example_validator import ExampleValidator
from components.gate import Gate
from components.index_pusher.component import IndexPusher
from components.lexical_baseline import LexicalBaseline
from components.lexicon_gen.component import LexiconGen
from components.pusher.component import Pusher
from components.search_evaluator.component import SearchEvaluator
from components.statistics_gen import StatisticsGen
from components.trained_baseline import TrainedBaseline
from components.trainer.component import Trainer
from components.training_report.component import TrainingReport
from components.transform.component import Transform
from components.transform.settings import TransformSettings
from components.wikiclir_example_gen.component import WikiClirExampleGen
from components.wikiclir_example_gen.ingest import IngestSettings
from components.wikipedia_gen.component import WikipediaGen
from models.job import TrainingJob
from models.settings import ChannelSettings, LossSettings, ModelSettings, WordTableSource
from pipeline.config import RunConfig, without_folders
from pipeline.identity import give_identities, identity
from pipeline.input_files import files_of, files_of_dump
from pipeline.layout import CHECKPOINTS
from schemas.features import (
    DOCUMENT_STEM_VOCABULARY,
    DOCUMENT_VOCABULARY,
    QUERY_STEM_VOCABULARY,
    QUERY_VOCABULARY,
    WITHOUT_TITLES,
)
from schemas.wikiclir import CANDIDATES_FILE, documents_file, judgments_file, queries_file

NAME: Final = "smooth-clir"
"""No underscore, which Kubeflow Pipelines refuses."""

ALWAYS_RUN: Final = ("Gate", "Pusher", "IndexPusher")
"""The stages that no cache may stand in for: what they decide hangs on what is pushed when they run."""

_RUN_FN = "components.trainer.run_fn"
_TUNER_FN = "components.trainer.tuner_fn"


def create_pipeline(
    config: RunConfig,
    pipeline_root: str,
    schema_path: str,
    serving_path: str,
    index_path: str,
    cell: str | None = None,
    checkpoints_path: str | None = None,
    **arguments: Any,
) -> pipeline.Pipeline:
    """Wires the stages.

    Each stage's parameters hold the settings that it uses and no others, and its identity (see `pipeline.identity`):
    TFX's cache keys are made of them.

    Args:
      config: resolved, with the digests of its inputs.
      pipeline_root: folder of all artifacts.
      schema_path: the curated schema, a local file.
      serving_path: folder of the pushed versions.
      index_path: folder of the versions of the index, local.
      cell: name of the experiment's cell that this is, if any: its model is not pushed, and its unfinished training is
        kept beside those of other cells.
      checkpoints_path: folder of unfinished trainings, beside which a baseline's lie, and what was read of dumps; None
        for one under `pipeline_root`.
      **arguments: the runner's own, for `pipeline.Pipeline` (metadata, caching).
    """
    data = config.data
    checkpoints = checkpoints_path or os.path.join(pipeline_root, CHECKPOINTS)
    sources = [_wikipedia_gen(config, f"{checkpoints}.dumps")] if data.wikipedia else []
    wikiclir_files = sources[0].outputs["wikiclir_files"] if sources else None
    collection_gen = CollectionGen(
        paths=_made_files(config) if sources else {role: files_of(path) for role, path in data.inputs().items()},
        digests=data.sha256.model_dump(exclude_none=True, exclude={"wikipedia"}),
        top_grade=data.top_grade,
        wikiclir_files=wikiclir_files,
    )
    collection = collection_gen.outputs["collection"]
    example_gen = WikiClirExampleGen(
        collection=collection,
        settings=IngestSettings(**data.model_dump(include={field.name for field in fields(IngestSettings)})),
        max_bad_share=data.max_bad_share,
    )
    examples = example_gen.outputs["examples"]
    statistics_gen = StatisticsGen(examples=examples, features=WITHOUT_TITLES)
    schema_gen = ImportSchemaGen(schema_file=schema_path)
    schema = schema_gen.outputs["schema"]
    example_validator = ExampleValidator(statistics=statistics_gen.outputs["statistics"], schema=schema)
    transform = Transform(
        examples=examples,
        schema=schema,
        settings=TransformSettings(
            vocabulary_size=config.model.vocabulary_size,
            max_tokens=data.max_document_tokens,
            word_tables=_word_tables(config),
            stem_languages=_stem_languages(config),
        ),
    )
    # An anomaly must stop the run before anything is made of the data.
    transform.add_upstream_node(example_validator)
    titles = wikiclir_files if config.lexicon.title_pairs else None
    lexicons = [_lexicon_gen(config, examples, collection, titles)] if config.lexicon.kind != "none" else []
    job = _training_job(config, os.path.join(checkpoints, *([cell] if cell else [])))
    training = {
        "examples": transform.outputs["transformed_examples"],
        "transform_graph": transform.outputs["transform_graph"],
        "schema": schema,
        "train_args": trainer_pb2.TrainArgs(splits=["train"]),
        "eval_args": trainer_pb2.EvalArgs(splits=["eval"]),
        "lexicon": lexicons[0].outputs["lexicon"] if lexicons else None,
        "texts": examples if job.channels else None,
    }
    tuners = [_tuner(config, training, job)] if config.tuning.search else []
    trainer = Trainer(
        job=job, **training, hyperparameters=tuners[0].outputs["best_hyperparameters"] if tuners else None
    )
    training_report = TrainingReport(
        model_run=trainer.outputs["model_run"],
        model=job.model,
        loss=job.loss,
        training=job.training,
        tuner_results=tuners[0].outputs["tuner_results"] if tuners else None,
    )
    baselines = {
        "bm25": lambda: _lexical_baseline(config, examples, collection),
        "paper": lambda: _paper_baseline(config, examples, training, checkpoints),
    }
    chosen_baselines = {name: baselines[name]() for name in config.evaluation.baselines}
    lists: dict[str, Any] = {"top_grade": data.top_grade, "used_negatives": data.used_negatives}
    model = trainer.outputs["model"]
    evaluator = Evaluator(
        examples=examples,
        model=model,
        feedback=config.evaluation.feedback,
        **{f"{name}_run": stages[-1].outputs["run"] for name, stages in chosen_baselines.items()},
        **lists,
    )
    gate = Gate(
        examples=examples,
        model=model,
        evaluation=evaluator.outputs["evaluation"],
        settings=config.evaluation,
        serving=serving_path,
        **lists,
    )
    pusher = Pusher(
        model=model,
        model_blessing=gate.outputs["blessing"],
        examples=examples,
        data_report=example_gen.outputs["report"],
        model_run=trainer.outputs["model_run"],
        evaluation=evaluator.outputs["evaluation"],
        settings=without_folders(config),
        serving=serving_path,
    )
    evaluated = {"examples": examples, "model": model, "evaluation": evaluator.outputs["evaluation"]}
    components = [
        *sources,
        collection_gen,
        example_gen,
        statistics_gen,
        schema_gen,
        example_validator,
        transform,
        *(stage for stages in chosen_baselines.values() for stage in stages),
        *lexicons,
        *tuners,
        trainer,
        training_report,
        evaluator,
        gate,
        *([] if cell else [pusher]),
        *(_search(config, evaluated, collection, pusher, index_path) if config.search.index and not cell else []),
    ]
    give_identities(components)
    return pipeline.Pipeline(pipeline_name=NAME, pipeline_root=pipeline_root, components=components, **arguments)


def _wikipedia_gen(config: RunConfig, unfinished: str) -> BaseComponent:
    """The stage that makes the collection's files from dumps."""
    data = config.data
    return WikipediaGen(
        files={key: files_of_dump(path) for key, path in data.wikipedia.inputs().items()} if data.wikipedia else {},
        digests=data.sha256.wikipedia,
        languages=(data.query_language, data.document_language),
        settings=data.wikipedia and data.wikipedia.model_copy(update={"sitelinks": None}),
        unfinished=unfinished,
    )


def _made_files(config: RunConfig) -> dict[str, list[str]]:
    """Role to the pattern of its files that are made from dumps, in one shard or several."""
    languages = config.data.query_language, config.data.document_language
    names = {
        "queries": queries_file(languages[0]),
        "documents": documents_file(languages[1]),
        "judgments": judgments_file(*languages),
    }
    if languages[0] == languages[1]:
        names["candidates"] = CANDIDATES_FILE
    return {role: [f"{name}*"] for role, name in names.items()}


def _lexicon_gen(config: RunConfig, examples: Any, collection: Any, titles: Any) -> BaseComponent:
    """The stage that learns the channel of words that match."""
    data, lexicon = config.data, config.lexicon
    return LexiconGen(
        examples=examples,
        collection=collection,
        kind=lexicon.kind,
        languages=(data.query_language, data.document_language),
        max_tokens=data.max_document_tokens,
        top_grade=data.top_grade,
        max_bad_share=data.max_bad_share,
        pairs=files_of(lexicon.pairs) if lexicon.pairs else [],
        pairs_digest=lexicon.sha256.pairs,
        wikiclir_files=titles,
    )


def _lexical_baseline(config: RunConfig, examples: Any, collection: Any) -> list[BaseComponent]:
    """BM25 without translation."""
    return [LexicalBaseline(examples=examples, collection=collection, max_tokens=config.data.max_document_tokens)]


def _paper_baseline(
    config: RunConfig, examples: Any, training: dict[str, Any], checkpoints: str
) -> list[BaseComponent]:
    """The paper's system, trained on the same lists, and what ranks the test lists by it."""
    paper = config.paper_beside()
    # Not within the other folder, whose training removes all folders but its own, perhaps at the same time.
    job = _training_job(paper, f"{checkpoints}.paper")
    trainer = Trainer(job=job, **{**training, "lexicon": None, "texts": None}).with_id("PaperTrainer")
    return [trainer, TrainedBaseline(examples=examples, model=trainer.outputs["model"], tag="paper")]


def _search(
    config: RunConfig, evaluated: dict[str, Any], collection: Any, pusher: BaseComponent, index_path: str
) -> list[BaseComponent]:
    """What makes the collection searchable, and evaluates the search."""
    indexer = CorpusIndexer(model=evaluated["model"], collection=collection)
    index = indexer.outputs["index"]
    index_pusher = IndexPusher(index=index, pushed_model=pusher.outputs["pushed_model"], folder=index_path)
    search_evaluator = SearchEvaluator(
        **evaluated,
        index=index,
        collection=collection,
        top_grade=config.data.top_grade,
        max_tokens=config.data.max_document_tokens,
    )
    # No push hangs on it, and of many queries it takes long.
    search_evaluator.add_upstream_node(index_pusher)
    return [indexer, index_pusher, search_evaluator]


def _training_job(config: RunConfig, checkpoints: str) -> TrainingJob:
    """Returns the training of a configuration; settings that a search replaces, or that do not matter, are defaults.

    A cache key holds no more of the settings than the stage uses.
    """
    # Transform alone uses the size of the vocabularies.
    unused: dict[str, float] = {"vocabulary_size": ModelSettings().vocabulary_size}
    loss, lexicon, tuning = config.loss, config.lexicon, config.tuning
    if tuning.search and tuning.epsilon:
        unused["epsilon"] = ModelSettings().epsilon
    if tuning.search and tuning.theta:
        loss = loss.model_copy(update={"theta": LossSettings(name=loss.name).theta})
    channels = dict(config.channels)
    if lexicon.kind != "none":
        channels = {lexicon.kind: ChannelSettings(kind=lexicon.kind, weight=lexicon.weight), **channels}
    job = TrainingJob(
        model=config.model.model_copy(update=unused),
        loss=loss,
        training=config.training,
        channels=channels,
        word_tables=_word_tables(config),
        top_grade=config.data.top_grade,
        used_negatives=config.data.used_negatives,
        checkpoints=checkpoints,
    )
    return job.model_copy(update={"identity": identity([_RUN_FN, *(one.module for one in job.declarations())])})


def _tuner(config: RunConfig, training: dict[str, Any], job: TrainingJob) -> BaseComponent:
    """Returns the stage that searches for epsilon and theta."""
    # KerasTuner and scikit-learn take two seconds to import.
    from components.trainer.tuner import Tuner

    epochs = {"epochs": config.tuning.epochs or config.training.epochs}
    modules = [_TUNER_FN, "components.trainer.tuner", *(one.module for one in job.declarations())]
    update = {
        "training": config.training.model_copy(update=epochs),
        "tuning": config.tuning.model_copy(update={"epochs": None}),
        "identity": identity(modules),
    }
    return Tuner(job=job.model_copy(update=update), **training)


def _stem_languages(config: RunConfig) -> dict[str, str]:
    """The language of each vocabulary of stems; empty where the model takes none."""
    if not config.model.stem_embeddings:
        return {}
    data = config.data
    return {QUERY_STEM_VOCABULARY: data.query_language, DOCUMENT_STEM_VOCABULARY: data.document_language}


def _word_tables(config: RunConfig) -> dict[str, WordTableSource]:
    """Returns the pre-trained vectors, by vocabulary."""
    vocabularies = {"query": QUERY_VOCABULARY, "document": DOCUMENT_VOCABULARY}
    return {
        vocabularies[side]: WordTableSource(
            path=path,
            sha256=getattr(config.embeddings.sha256, side) or "",
            width=config.model.embedding_dim,
            most_words=config.model.vocabulary_size,
            max_bad_share=config.data.max_bad_share,
            train=config.embeddings.train,
        )
        for side, path in config.embeddings.inputs().items()
    }
