"""The pipeline: stages from WikiCLIR files to a pushed model. The same graph runs locally and on Kubeflow."""

import os
from pathlib import Path
from typing import Any, Final, NamedTuple

from tfx.components.schema_gen.import_schema_gen.component import ImportSchemaGen
from tfx.dsl.components.base.base_component import BaseComponent
from tfx.orchestration import pipeline
from tfx.proto import trainer_pb2
from tfx.types.channel import BaseChannel

import schemas
from components.collection_gen.component import CollectionGen
from components.corpus_indexer.component import CorpusIndexer
from components.domain_validator import DomainValidator
from components.evaluator import Evaluator
from components.example_validator import ExampleValidator
from components.gate import Gate
from components.index_pusher import IndexPusher
from components.lexical_baseline import LexicalBaseline
from components.lexicon_gen import LexiconGen
from components.pusher.component import Pusher
from components.rivals import Rivals
from components.search_evaluator import SearchEvaluator
from components.stage import IDENTITY
from components.statistics_gen import StatisticsGen
from components.text_vector_gen import TextVectorGen
from components.trained_baseline import TrainedBaseline
from components.trainer.component import Trainer
from components.training_report.component import TrainingReport
from components.transform.component import Transform
from components.transform.settings import TransformSettings
from components.translation_gen.component import TranslationGen
from components.wikiclir_example_gen.component import WikiClirExampleGen
from components.wikiclir_example_gen.lists import IngestSettings
from components.wikipedia_gen.component import WikipediaGen
from models.adversary_settings import AdversarySettings
from models.choices import COLLECTION_RIVALS, FIRST_WEIGHT, HELD_OUT, RIVALS
from models.job import TrainingJob
from models.lexicon.settings import LexiconSettings
from models.losses.settings import LossSettings, ThresholdLossSettings
from models.rankers.settings import ScorerSettings, SimilaritySettings
from models.settings import FeedbackSettings, WordTableSource
from pipeline.config import RunConfig, without_folders
from pipeline.encoder_identity import encoder_digest
from pipeline.identity import identity, identity_of_stage
from pipeline.input_files import files_of, files_of_dump
from pipeline.layout import CHECKPOINTS, TEXT_VECTORS, TRANSLATIONS
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

_SCHEMA_FILE: Final = str(Path(schemas.__file__).with_name("schema.pbtxt"))
_RUN_FN = "components.trainer.run_fn"
_TUNER_FN = "components.trainer.tuner_fn"


class Data(NamedTuple):
    """The stages that prepare the data, and the outputs that others read."""

    stages: list[BaseComponent]
    collection: BaseChannel
    examples: BaseChannel
    report: BaseChannel
    schema: BaseChannel
    transform_graph: BaseChannel
    transformed_examples: BaseChannel
    lexicon: BaseChannel | None
    text_vectors: BaseChannel | None


class Training(NamedTuple):
    """The stages that train and report a model, and the outputs that others read."""

    stages: list[BaseComponent]
    model: BaseChannel
    model_run: BaseChannel


class Judging(NamedTuple):
    """The stages that evaluate, judge and push a model, and the outputs that others read."""

    stages: list[BaseComponent]
    evaluation: BaseChannel
    pushed_model: BaseChannel | None


def create_pipeline(
    config: RunConfig,
    pipeline_root: str,
    serving_path: str,
    index_path: str,
    cell: str | None = None,
    checkpoints_path: str | None = None,
    **arguments: Any,
) -> pipeline.Pipeline:
    """Wires the stages.

    TFX makes its cache keys from a stage's parameters: these hold the settings that the stage uses and no others, and
    its identity (see `pipeline.identity`).

    Args:
      config: resolved, with the digests of its inputs.
      pipeline_root: folder of all artifacts.
      serving_path: folder of the pushed versions.
      index_path: folder of the versions of the index, local.
      cell: name of the experiment's cell that the run is, if any. Neither its model nor its index is pushed,
        and its unfinished training is kept beside those of other cells.
      checkpoints_path: folder of unfinished trainings, beside which unfinished baselines and readings of dumps lie;
        None for a folder under `pipeline_root`.
      **arguments: further arguments of `pipeline.Pipeline` (metadata, caching).
    """
    checkpoints = checkpoints_path or os.path.join(pipeline_root, CHECKPOINTS)
    data = _data(config, checkpoints)
    training = _training(config, data, os.path.join(checkpoints, cell) if cell else checkpoints)
    judging = _judging(config, data, training, checkpoints, serving_path, pushes=cell is None)
    stages = [*data.stages, *training.stages, *judging.stages]
    if config.search.index:
        stages += _search(config, data, training, judging, index_path)
    for stage in stages:
        executor = stage.executor_spec.executor_class.__module__
        stage.exec_properties[IDENTITY] = identity_of_stage(executor, stage.exec_properties)
    return pipeline.Pipeline(pipeline_name=NAME, pipeline_root=pipeline_root, components=stages, **arguments)


def _data(config: RunConfig, checkpoints: str) -> Data:
    """The stages from input files or dumps to transformed examples and a lexicon."""
    data, lexicon, reads = config.data, config.channels.lexicon, config.channels.towers.reads
    stages: list[BaseComponent] = []
    paths = {role: files_of(path) for role, path in data.inputs().items()}
    wikiclir_files = None
    if data.wikipedia:
        wikipedia_gen = WikipediaGen(
            files={key: files_of_dump(path) for key, path in data.wikipedia.inputs().items()},
            digests=data.sha256.wikipedia,
            languages=data.languages,
            settings=data.wikipedia.model_copy(update={"sitelinks": None}),
            unfinished=f"{checkpoints}.dumps",
        )
        stages.append(wikipedia_gen)
        paths, wikiclir_files = _made_files(*data.languages), wikipedia_gen.outputs["wikiclir_files"]
    collection_gen = CollectionGen(
        paths=paths,
        digests=data.sha256.model_dump(exclude_none=True, exclude={"wikipedia"}),
        top_grade=data.top_grade,
        wikiclir_files=wikiclir_files,
    )
    collection = collection_gen.outputs["collection"]
    example_gen = WikiClirExampleGen(
        collection=collection,
        settings=IngestSettings.of(data),
        max_bad_share=data.max_bad_share,
    )
    examples = example_gen.outputs["examples"]
    statistics_gen = StatisticsGen(examples=examples, features=WITHOUT_TITLES)
    schema_gen = ImportSchemaGen(schema_file=_SCHEMA_FILE)
    schema = schema_gen.outputs["schema"]
    example_validator = ExampleValidator(statistics=statistics_gen.outputs["statistics"], schema=schema)
    stem_languages = {QUERY_STEM_VOCABULARY: data.query_language, DOCUMENT_STEM_VOCABULARY: data.document_language}
    transform = Transform(
        examples=examples,
        schema=schema,
        settings=TransformSettings(
            vocabulary_size=data.vocabulary_size,
            rules=data.word_rules,
            word_tables=_word_tables(config),
            stem_languages=stem_languages if reads.stems else {},
            held_out=() if config.adversary.held_out_texts else data.held_out,
            joint_stems=reads.starts_from_lexicon,
        ),
    )
    validators: list[BaseComponent] = [example_validator]
    if data.domains:
        report = example_gen.outputs["report"]
        validators.append(
            DomainValidator(
                report=report,
                held_out=data.held_out,
                held_out_texts=config.adversary.held_out_texts,
                **config.trained_domains._asdict(),
            )
        )
    for validator in validators:
        # An anomaly must stop the run before anything is made from the data.
        transform.add_upstream_node(validator)
    stages += [collection_gen, example_gen, statistics_gen, schema_gen, *validators, transform]
    learned = None
    translations = None
    # Equal words are learned from nothing but the collection.
    pairs = lexicon if isinstance(lexicon, LexiconSettings) else LexiconSettings()
    if pairs.translator:
        translation_gen = TranslationGen(
            collection=collection,
            translator=pairs.translator,
            languages=data.languages,
            store=f"{checkpoints}.{TRANSLATIONS}",
        )
        stages.append(translation_gen)
        translations = translation_gen.outputs["translations"]
    if lexicon:
        lexicon_gen = LexiconGen(
            examples=examples,
            collection=collection,
            kind=lexicon.kind,
            languages=data.languages,
            rules=data.word_rules,
            top_grade=data.top_grade,
            max_bad_share=data.max_bad_share,
            pairs=files_of(pairs.pairs) if pairs.pairs else [],
            pairs_digest=pairs.sha256.pairs,
            pairs_weight=pairs.pairs_weight,
            title_pairs_weight=pairs.title_pairs_weight,
            held_out=data.held_out,
            leaves_out=config.channels.has_held_out_weight,
            wikiclir_files=wikiclir_files if pairs.title_pairs else None,
            translations=translations,
            translations_weight=pairs.translations_weight,
        )
        stages.append(lexicon_gen)
        learned = lexicon_gen.outputs["lexicon"]
    text_vectors = None
    encoder = config.channels.encoder
    if encoder:
        text_vector_gen = TextVectorGen(
            examples=examples,
            collection=collection,
            encoder=encoder.for_texts,
            digest=encoder_digest(encoder),
            store=f"{checkpoints}.{TEXT_VECTORS}",
        )
        stages.append(text_vector_gen)
        text_vectors = text_vector_gen.outputs["text_vectors"]
    return Data(
        stages,
        collection,
        examples,
        example_gen.outputs["report"],
        schema,
        transform.outputs["transform_graph"],
        transform.outputs["transformed_examples"],
        learned,
        text_vectors,
    )


def _training(config: RunConfig, data: Data, checkpoints: str) -> Training:
    """The stages of the search, if there is one, of the training, and of the report of both."""
    job = _training_job(config, checkpoints)
    inputs = _training_inputs(config, data, job)
    stages: list[BaseComponent] = []
    best = trials = None
    if config.tuning.search:
        # KerasTuner and scikit-learn take two seconds to import.
        from components.trainer.tuner import Tuner

        tuner = Tuner(job=_search_job(config, job), **inputs)
        stages.append(tuner)
        best, trials = tuner.outputs["best_hyperparameters"], tuner.outputs["tuner_results"]
    trainer = Trainer(job=job, **inputs, collection=data.collection, hyperparameters=best)
    training_report = TrainingReport(
        model_run=trainer.outputs["model_run"],
        towers=job.towers,
        loss=job.loss,
        top_grade=job.top_grade,
        training=job.training,
        tuner_results=trials,
    )
    stages += [trainer, training_report]
    return Training(stages, trainer.outputs["model"], trainer.outputs["model_run"])


def _training_inputs(config: RunConfig, data: Data, job: TrainingJob) -> dict[str, Any]:
    """The arguments of Trainer and Tuner besides the job."""
    reads_vectors = config.channels.encoder is not None
    return {
        "examples": data.transformed_examples,
        "transform_graph": data.transform_graph,
        "schema": data.schema,
        "train_args": trainer_pb2.TrainArgs(splits=["train"]),
        "eval_args": trainer_pb2.EvalArgs(splits=["eval"]),
        "lexicon": data.lexicon if job.channels else None,
        "texts": data.examples if job.channels or reads_vectors else None,
        "text_vectors": data.text_vectors if reads_vectors else None,
    }


def _judging(
    config: RunConfig, data: Data, training: Training, checkpoints: str, serving_path: str, pushes: bool
) -> Judging:
    """The baselines, the evaluation, the gate, and perhaps the push of a blessed model."""
    lists = {
        "top_grade": config.data.top_grade,
        "used_negatives": config.data.used_negatives,
        "held_out": config.data.held_out,
    }
    stages: list[BaseComponent] = []
    runs = {}
    if "bm25" in config.evaluation.baselines:
        lexical_baseline = LexicalBaseline(
            examples=data.examples, collection=data.collection, rules=config.data.word_rules
        )
        stages.append(lexical_baseline)
        runs["bm25_run"] = lexical_baseline.outputs["run"]
    rivals = [name for name in config.evaluation.baselines if name in RIVALS]
    if rivals:
        stage = Rivals(
            examples=data.examples,
            lexicon=data.lexicon if config.translating_baselines else None,
            collection=data.collection if not set(COLLECTION_RIVALS).isdisjoint(rivals) else None,
            query_translator=config.evaluation.query_translator,
            methods=rivals,
            languages=config.data.languages,
            rules=config.data.word_rules,
            vocabulary_size=config.data.vocabulary_size,
            seed=config.data.seed,
            **lists,
        )
        stages.append(stage)
        runs["rival_runs"] = stage.outputs["runs"]
    if "paper" in config.evaluation.baselines:
        # Not within the run's own folder, whose training removes all other folders, perhaps at the same time.
        paper = config.paper_beside()
        job = _training_job(paper, f"{checkpoints}.paper")
        trainer = Trainer(job=job, **_training_inputs(paper, data, job)).with_id("PaperTrainer")
        trained_baseline = TrainedBaseline(examples=data.examples, model=trainer.outputs["model"], tag="paper")
        stages += [trainer, trained_baseline]
        runs["paper_run"] = trained_baseline.outputs["run"]
    # A model that holds its encoder is evaluated as it is served: vectors in files are rounded.
    encoder = config.channels.encoder
    vectors = {"text_vectors": None if encoder and encoder.is_in_graph else data.text_vectors}
    evaluator = Evaluator(
        examples=data.examples,
        model=training.model,
        metrics=config.evaluation.reported,
        **vectors,
        **runs,
        **lists,
    )
    evaluation = evaluator.outputs["evaluation"]
    gate = Gate(
        examples=data.examples,
        model=training.model,
        evaluation=evaluation,
        settings=config.evaluation,
        serving=serving_path,
        **vectors,
        **lists,
    )
    stages += [evaluator, gate]
    if not pushes:
        return Judging(stages, evaluation, None)
    pusher = Pusher(
        model=training.model,
        model_blessing=gate.outputs["blessing"],
        examples=data.examples,
        data_report=data.report,
        transform_graph=data.transform_graph,
        model_run=training.model_run,
        evaluation=evaluation,
        settings=without_folders(config),
        serving=serving_path,
    )
    return Judging([*stages, pusher], evaluation, pusher.outputs["pushed_model"])


def _search(
    config: RunConfig, data: Data, training: Training, judging: Judging, index_path: str
) -> list[BaseComponent]:
    """The stages that make the collection searchable, and evaluate the search; without a pushed model no index is."""
    indexer = CorpusIndexer(model=training.model, collection=data.collection, text_vectors=data.text_vectors)
    index = indexer.outputs["index"]
    milvus = config.search.milvus if config.search.engine == "milvus" and judging.pushed_model else None
    search_evaluator = SearchEvaluator(
        examples=data.examples,
        model=training.model,
        index=index,
        collection=data.collection,
        evaluation=judging.evaluation,
        top_grade=config.data.top_grade,
        rules=config.data.word_rules,
        leave_out_own=config.data.leave_out_own,
        held_out=config.data.held_out,
        text_vectors=data.text_vectors,
        milvus=milvus,
    )
    if not judging.pushed_model:
        return [indexer, search_evaluator]
    index_pusher = IndexPusher(index=index, pushed_model=judging.pushed_model, folder=index_path, milvus=milvus)
    # Runs after the push, because it is slow with many queries.
    search_evaluator.add_upstream_node(index_pusher)
    return [indexer, index_pusher, search_evaluator]


def _made_files(query_language: str, document_language: str) -> dict[str, list[str]]:
    """Role to the pattern of its files that are made from dumps, in one shard or several."""
    names = {
        "queries": queries_file(query_language),
        "documents": documents_file(document_language),
        "judgments": judgments_file(query_language, document_language),
    }
    if query_language == document_language:
        names["candidates"] = CANDIDATES_FILE
    return {role: [f"{name}*"] for role, name in names.items()}


def _training_job(config: RunConfig, checkpoints: str) -> TrainingJob:
    """Returns the training of a configuration; settings that a search replaces, or that do not matter, are defaults.

    A cache key holds no more of the settings than the stage uses.
    """
    towers: ScorerSettings = config.channels.towers
    loss: LossSettings = config.loss
    tuning = config.tuning
    if tuning.search and tuning.epsilon:
        towers = towers.model_copy(update={"epsilon": SimilaritySettings.model_fields["epsilon"].default})
    if tuning.search and tuning.theta:
        loss = loss.model_copy(update={"theta": ThresholdLossSettings.model_fields["theta"].default})
    job = TrainingJob(
        languages=config.data.languages,
        rules=config.data.word_rules,
        top_grade=config.data.top_grade,
        towers=towers,
        loss=loss,
        training=config.training,
        channels=config.channels.for_training,
        feedback=config.feedback if config.feedback.gain else FeedbackSettings(),
        word_tables=_word_tables(config),
        used_negatives=config.data.used_negatives,
        held_out=config.data.held_out,
        adversary=_used_adversary(config.adversary),
        checkpoints=checkpoints,
    )
    modules = [_RUN_FN, *job.modules()]
    return job.model_copy(update={"identity": identity(modules)})


def _used_adversary(adversary: AdversarySettings) -> AdversarySettings:
    """Returns the settings of a discriminator; the defaults where there is none."""
    return adversary if adversary.weight else AdversarySettings()


def _search_job(config: RunConfig, job: TrainingJob) -> TrainingJob:
    """Returns the job of the search for epsilon and theta before a training."""
    # A trial's value is the best epoch's; weights and the second pass are fitted afterwards.
    channels = {
        name: channel.model_copy(update={"weight": FIRST_WEIGHT} if channel.weight == HELD_OUT else {})
        for name, channel in job.channels.items()
    }
    modules = [_TUNER_FN, "components.trainer.tuner", *job.modules()]
    update = {
        "channels": channels,
        "feedback": FeedbackSettings(),
        "training": config.training.model_copy(update={"epochs": config.tuning.epochs or config.training.epochs}),
        "tuning": config.tuning.model_copy(update={"epochs": None}),
        "identity": identity(modules),
    }
    return job.model_copy(update=update)


def _word_tables(config: RunConfig) -> dict[str, WordTableSource]:
    """Returns the pre-trained vectors, by vocabulary."""
    vocabularies = {"query": QUERY_VOCABULARY, "document": DOCUMENT_VOCABULARY}
    return {
        vocabularies[side]: WordTableSource(
            path=path,
            sha256=getattr(config.embeddings.sha256, side) or "",
            width=config.channels.towers.word_width or 0,
            most_words=config.data.vocabulary_size,
            max_bad_share=config.data.max_bad_share,
            train=config.embeddings.train,
            segmented=config.data.segmented,
        )
        for side, path in config.embeddings.inputs().items()
    }
