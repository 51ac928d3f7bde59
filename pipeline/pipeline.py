"""The pipeline: stages from WikiCLIR files to a pushed model. The same graph runs locally and on Kubeflow."""

import os
from pathlib import Path
from typing import Any, Final

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
from components.passage_gen.component import PassageGen
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
from models.choices import COLLECTION_RIVALS, RIVALS
from models.job import TrainingJob
from models.lexicon.settings import LexiconSettings
from pipeline.config import RunConfig, without_folders
from pipeline.encoder_identity import encoder_digest
from pipeline.identity import identity_of_stage
from pipeline.input_files import files_of, files_of_dump
from pipeline.layout import CHECKPOINTS, TEXT_VECTORS, TRANSLATIONS
from pipeline.training_jobs import search_job, training_job, word_tables
from schemas.columns import fields_of_roles
from schemas.features import DOCUMENT_STEM_VOCABULARY, QUERY_STEM_VOCABULARY, WITHOUT_TITLES
from schemas.languages import stem_languages

NAME: Final = "smooth-clir"
"""No underscore, which Kubeflow Pipelines refuses."""

_SCHEMA_FILE: Final = str(Path(schemas.__file__).with_name("schema.pbtxt"))


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
    stages = _Stages(config, checkpoints)
    stages.add_collection()  # WikipediaGen, CollectionGen, PassageGen, WikiClirExampleGen
    stages.add_features()  # StatisticsGen, ImportSchemaGen, ExampleValidator, DomainValidator, Transform
    stages.add_lexicon()  # TranslationGen, LexiconGen
    stages.add_text_vectors()  # TextVectorGen
    stages.add_training(os.path.join(checkpoints, cell) if cell else checkpoints)  # Tuner, Trainer, TrainingReport
    stages.add_baselines()  # LexicalBaseline, Rivals, PaperTrainer, TrainedBaseline
    stages.add_evaluation(serving_path)  # Evaluator, Gate
    if cell is None:
        stages.add_push(serving_path)  # Pusher
    if config.search.index:
        stages.add_search(index_path)  # CorpusIndexer, IndexPusher, SearchEvaluator
    components = [*stages.by_id.values()]
    return pipeline.Pipeline(pipeline_name=NAME, pipeline_root=pipeline_root, components=components, **arguments)


class _Stages:
    """The stages of a run, in their order. Each method adds those that the configuration needs."""

    def __init__(self, config: RunConfig, checkpoints: str) -> None:
        self._config, self._checkpoints = config, checkpoints
        self.by_id: dict[str, BaseComponent] = {}

    def _add(self, component: Any, stage_id: str | None = None, **arguments: Any) -> Any:
        """Makes and adds a stage, with its identity among its parameters."""
        stage = component(**arguments)
        stage = stage.with_id(stage_id) if stage_id else stage
        executor = stage.executor_spec.executor_class.__module__
        stage.exec_properties[IDENTITY] = identity_of_stage(executor, stage.exec_properties)
        self.by_id[stage.id] = stage
        return stage

    def _output(self, stage: str, key: str) -> BaseChannel | None:
        """An output of a stage; None where the run lacks the stage."""
        return self.by_id[stage].outputs[key] if stage in self.by_id else None

    @property
    def _fields(self) -> list[str] | None:
        """The fields of the collection's documents; None without any, so that the keys of stages are those without this
        setting."""
        fields = fields_of_roles(self._config.data.languages_by_role, self._config.search.fields)
        return [*fields["documents"]] or None

    @property
    def _read_lists(self) -> dict[str, Any]:
        """The parameters of stages that read lists."""
        data = self._config.data
        return {"top_grade": data.top_grade, "used_negatives": data.used_negatives, "held_out": data.held_out}

    def add_collection(self) -> None:
        """From input files or dumps to the collection and its lists."""
        data = self._config.data
        paths = {role: files_of(path) for role, path in data.inputs().items()}
        if data.wikipedia:
            self._add(
                WikipediaGen,
                files={key: files_of_dump(path) for key, path in data.wikipedia.inputs().items()},
                digests=data.sha256.wikipedia,
                languages=data.languages,
                settings=data.wikipedia.model_copy(update={"sitelinks": None}),
                unfinished=f"{self._checkpoints}.dumps",
            )
            paths = {role: [f"{name}*"] for role, name in data.made_files().items()}  # in one shard or several
        collection_gen = self._add(
            CollectionGen,
            paths=paths,
            digests=data.sha256.model_dump(exclude_none=True, exclude={"wikipedia"}),
            top_grade=data.top_grade,
            wikiclir_files=self._output("WikipediaGen", "wikiclir_files"),
            fields=[*self._config.search.fields] or None,
            text_languages=data.languages_by_role or None,
        )
        self._documents = collection_gen.outputs["collection"]
        if data.passages:
            self._add(PassageGen, collection=self._documents, settings=data.passages, segmented=data.segmented)
        passages = self._output("PassageGen", "passages")
        example_gen = self._add(
            WikiClirExampleGen,
            collection=self._documents,
            settings=IngestSettings.of(data),
            max_bad_share=data.max_bad_share,
            passages=passages,
        )
        self._texts = {"examples": example_gen.outputs["examples"], "collection": passages or self._documents}

    def add_features(self) -> None:
        """From lists of texts to the columns that training reads, once the lists are validated."""
        config, data, reads = self._config, self._config.data, self._config.channels.towers.reads
        examples = self._texts["examples"]
        statistics = self._add(StatisticsGen, examples=examples, features=WITHOUT_TITLES).outputs["statistics"]
        schema = self._add(ImportSchemaGen, schema_file=_SCHEMA_FILE).outputs["schema"]
        validators = [self._add(ExampleValidator, statistics=statistics, schema=schema)]
        if data.domains:
            domain_validator = self._add(
                DomainValidator,
                report=self._output("WikiClirExampleGen", "report"),
                held_out=data.held_out,
                held_out_texts=config.adversary.held_out_texts,
                **config.trained_domains._asdict(),
            )
            validators.append(domain_validator)
        vocabularies = QUERY_STEM_VOCABULARY, DOCUMENT_STEM_VOCABULARY
        settings = TransformSettings(
            vocabulary_size=data.vocabulary_size,
            rules=data.word_rules,
            word_tables=word_tables(config),
            stem_languages=dict(zip(vocabularies, stem_languages(data.languages), strict=True)) if reads.stems else {},
            held_out=() if config.adversary.held_out_texts else data.held_out,
            joint_stems=reads.starts_from_lexicon,
        )
        transform = self._add(Transform, examples=examples, schema=schema, settings=settings)
        for validator in validators:
            # An anomaly must stop the run before anything is made from the data.
            transform.add_upstream_node(validator)

    def add_lexicon(self) -> None:
        """The lexicon, and the machine translations that it learns from."""
        data, channels = self._config.data, self._config.channels
        lexicon = channels.lexicon
        # Equal words are learned from nothing but the collection.
        pairs = lexicon if isinstance(lexicon, LexiconSettings) else LexiconSettings()
        if pairs.translator:
            self._add(
                TranslationGen,
                collection=self._documents,
                translator=pairs.translator,
                languages=data.languages,
                store=f"{self._checkpoints}.{TRANSLATIONS}",
            )
        if lexicon:
            self._add(
                LexiconGen,
                **self._texts,
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
                leaves_out=channels.has_held_out_weight,
                wikiclir_files=self._output("WikipediaGen", "wikiclir_files") if pairs.title_pairs else None,
                translations=self._output("TranslationGen", "translations"),
                translations_weight=pairs.translations_weight,
            )

    def add_text_vectors(self) -> None:
        """The vectors of a pre-trained encoder."""
        if encoder := self._config.channels.encoder:
            store, digest = f"{self._checkpoints}.{TEXT_VECTORS}", encoder_digest(encoder)
            self._add(TextVectorGen, **self._texts, encoder=encoder.for_texts, digest=digest, store=store)

    def add_training(self, checkpoints: str) -> None:
        """The search for settings, the training, and the report of both."""
        job = training_job(self._config, checkpoints)
        inputs = self._training_inputs(self._config, job)
        if self._config.tuning.search:
            # KerasTuner and scikit-learn take two seconds to import.
            from components.trainer.tuner import Tuner

            self._add(Tuner, job=search_job(self._config, job), **inputs)
        best = self._output("Tuner", "best_hyperparameters")
        trainer = self._add(Trainer, job=job, **inputs, collection=self._documents, hyperparameters=best)
        self._add(
            TrainingReport,
            model_run=trainer.outputs["model_run"],
            towers=job.towers,
            loss=job.loss,
            top_grade=job.top_grade,
            training=job.training,
            tuner_results=self._output("Tuner", "tuner_results"),
        )

    def _training_inputs(self, config: RunConfig, job: TrainingJob) -> dict[str, Any]:
        """The arguments of Trainer and Tuner besides the job."""
        reads_vectors = config.channels.encoder is not None
        reads_texts = bool(job.channels) or reads_vectors
        return {
            "examples": self._output("Transform", "transformed_examples"),
            "transform_graph": self._output("Transform", "transform_graph"),
            "schema": self._output("ImportSchemaGen", "schema"),
            "train_args": trainer_pb2.TrainArgs(splits=["train"]),
            "eval_args": trainer_pb2.EvalArgs(splits=["eval"]),
            "lexicon": self._output("LexiconGen", "lexicon") if job.channels else None,
            "texts": self._texts["examples"] if reads_texts else None,
            "text_vectors": self._output("TextVectorGen", "text_vectors") if reads_vectors else None,
        }

    def add_baselines(self) -> None:
        """The baselines: BM25, rivals that train in seconds, and the paper's system."""
        config, data, baselines = self._config, self._config.data, self._config.evaluation.baselines
        if "bm25" in baselines:
            self._add(LexicalBaseline, **self._texts, rules=data.word_rules)
        if rivals := [name for name in baselines if name in RIVALS]:
            self._add(
                Rivals,
                examples=self._texts["examples"],
                lexicon=self._output("LexiconGen", "lexicon") if config.translating_baselines else None,
                collection=self._texts["collection"] if set(COLLECTION_RIVALS).intersection(rivals) else None,
                query_translator=config.evaluation.query_translator,
                methods=rivals,
                languages=data.languages,
                rules=data.word_rules,
                vocabulary_size=data.vocabulary_size,
                seed=data.seed,
                **self._read_lists,
            )
        if "paper" in baselines:
            # Not within the run's own folder, whose training removes all other folders, perhaps at the same time.
            paper = config.paper_baseline()
            job = training_job(paper, f"{self._checkpoints}.paper")
            trainer = self._add(Trainer, "PaperTrainer", job=job, **self._training_inputs(paper, job))
            self._add(TrainedBaseline, examples=self._texts["examples"], model=trainer.outputs["model"], tag="paper")

    @property
    def _tested(self) -> dict[str, Any]:
        """The inputs and parameters of stages that evaluate the model on lists."""
        # A model that holds its encoder is evaluated as it is served: vectors in files are rounded.
        encoder = self._config.channels.encoder
        is_in_graph = encoder is not None and encoder.is_in_graph
        return {
            "examples": self._texts["examples"],
            "model": self._output("Trainer", "model"),
            "text_vectors": None if is_in_graph else self._output("TextVectorGen", "text_vectors"),
            **self._read_lists,
        }

    def add_evaluation(self, serving_path: str) -> None:
        """The metrics of model and baselines, and the decision whether to push the model."""
        evaluation, data = self._config.evaluation, self._config.data
        evaluator = self._add(
            Evaluator,
            metrics=evaluation.reported,
            text_languages=data.languages if data.languages_by_role else None,
            bm25_run=self._output("LexicalBaseline", "run"),
            rival_runs=self._output("Rivals", "runs"),
            paper_run=self._output("TrainedBaseline", "run"),
            **self._tested,
        )
        metrics = evaluator.outputs["evaluation"]
        self._add(Gate, evaluation=metrics, settings=evaluation, serving=serving_path, **self._tested)

    def add_push(self, serving_path: str) -> None:
        """The push of a blessed model."""
        self._add(
            Pusher,
            model=self._output("Trainer", "model"),
            model_blessing=self._output("Gate", "blessing"),
            examples=self._texts["examples"],
            data_report=self._output("WikiClirExampleGen", "report"),
            transform_graph=self._output("Transform", "transform_graph"),
            model_run=self._output("Trainer", "model_run"),
            evaluation=self._output("Evaluator", "evaluation"),
            settings=without_folders(self._config),
            serving=serving_path,
        )

    def add_search(self, index_path: str) -> None:
        """The index of the collection, its push beside a pushed model, and the evaluation of the search."""
        data, search = self._config.data, self._config.search
        model, pushed_model = self._output("Trainer", "model"), self._output("Pusher", "pushed_model")
        vectors = self._output("TextVectorGen", "text_vectors")
        indexer = self._add(
            CorpusIndexer,
            model=model,
            collection=self._texts["collection"],
            text_vectors=vectors,
            fields=self._fields,
        )
        index = indexer.outputs["index"]
        milvus = search.milvus if search.engine == "milvus" and pushed_model else None
        if pushed_model:
            self._add(IndexPusher, index=index, pushed_model=pushed_model, folder=index_path, milvus=milvus)
        search_evaluator = self._add(
            SearchEvaluator,
            **self._texts,
            model=model,
            index=index,
            evaluation=self._output("Evaluator", "evaluation"),
            top_grade=data.top_grade,
            rules=data.word_rules,
            leave_out_own=data.leave_out_own,
            held_out=data.held_out,
            text_vectors=vectors,
            milvus=milvus,
        )
        if pushed_model:
            # Runs after the push, because it is slow with many queries.
            search_evaluator.add_upstream_node(self.by_id["IndexPusher"])
