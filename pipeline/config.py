"""The configuration of a run: its sections, and the rules between them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from components.settings import EvaluationSettings, SearchSettings
from components.wikiclir_example_gen.settings import DataSettings
from models.adversary_settings import AdversarySettings
from models.channels import ChannelsSettings
from models.choices import ACROSS_LANGUAGES, HELD_OUT, MACHINE_TRANSLATING, TRANSLATING
from models.encoders.settings import VectorsSettings
from models.job import default_objective, objective_fault
from models.lexicon.settings import LexiconSettings
from models.losses.settings import LossSettings, SoslSettings
from models.settings import EmbeddingSettings, FeedbackSettings
from models.training.settings import TrainingSettings
from models.tuning.settings import TuningSettings
from pipeline.beam_settings import BeamSettings, InProcessSettings
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.layout import WIKIPEDIA
from pipeline.presets import DEFAULT, PRESETS, with_preset
from schemas.domains import TrainedDomains
from schemas.languages import is_one_language
from schemas.settings import OneOf, OutputPath, Settings, path_settings
from schemas.wikiclir import CANDIDATES_FILE, documents_file, judgments_file, queries_file
from smooth_clir.wikipedia.settings import WikipediaSettings


class SourceSettings(DataSettings):
    """The collection: files in any form of docs/formats.md, plain or packed, or dumps (see docs/wikipedia.md)."""

    vocabulary_size: Annotated[int, Field(ge=1, lt=2**31)] = 100_000
    """Number of most frequent words kept per language, and of words read from `embeddings`."""

    wikipedia: WikipediaSettings | None = None
    """Dumps of the wikis of both languages. A first stage turns them into queries, documents and judgments, so that
    these three settings must be null."""

    @property
    def has_held_out_titles(self) -> bool:
        """Whether it is known which titles are of pages that only eval and test queries are about."""
        return self.wikipedia is not None and self.split == "queries"

    def made_files(self) -> dict[str, str]:
        """Role to the name of its file that is made from dumps."""
        query, document = self.languages
        names = {
            "queries": queries_file(query),
            "documents": documents_file(document),
            "judgments": judgments_file(query, document),
        }
        return names | ({"candidates": CANDIDATES_FILE} if query == document else {})

    @model_validator(mode="after")
    def _dumps_cover_the_languages(self) -> "SourceSettings":
        if self.wikipedia and (missing := self.wikipedia.missing_for(self.query_language, self.document_language)):
            raise ValueError(f"wikipedia.{missing}")
        return self


class RunConfig(Settings):
    """Everything that decides a run."""

    preset: Annotated[str, AfterValidator(OneOf(PRESETS))] = DEFAULT
    """Source of the settings that are not given: paper (the paper's system), best (a stronger tower, and a lexicon),
    closed (best and a softmax term), polynomial (Polynomial Semantic Indexing), or cossim and duet_distributed (the
    rankers of Cohen et al. 2018). With closed and polynomial, training should see all documents."""
    data: SourceSettings
    """The collection."""
    channels: ChannelsSettings = ChannelsSettings()
    """The channels of the score: the score of `towers` plus the weighted scores of the others. Each channel names its
    kind, or is just the name of its kind. Any name besides these four adds a channel, of the kind cl_lsi or of a kind
    that was added as CONTRIBUTING.md says."""
    embeddings: EmbeddingSettings = EmbeddingSettings()
    """The word vectors that training starts from."""
    feedback: FeedbackSettings = FeedbackSettings()
    """The second pass of a ranking (pseudo-relevance feedback)."""
    loss: LossSettings = SoslSettings()
    """The training loss."""
    adversary: AdversarySettings = AdversarySettings()
    """The discriminator of domains that training works against."""
    training: TrainingSettings = TrainingSettings()
    """The optimisation."""
    tuning: TuningSettings = TuningSettings()
    """The search for epsilon and theta."""
    evaluation: EvaluationSettings = EvaluationSettings()
    """The evaluation, and the gate."""
    search: SearchSettings = SearchSettings()
    """The index of the whole collection."""
    kubeflow: KubeflowSettings = KubeflowSettings()
    """Kubeflow Pipelines."""
    beam: BeamSettings = InProcessSettings()
    """The runner of the Beam stages."""
    output: Annotated[str, Field(min_length=1), OutputPath()]
    """Folder of everything the run writes."""

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, content: Any) -> Any:
        return with_preset(content, cls) if isinstance(content, Mapping) else content

    @field_validator("channels")
    @classmethod
    def _channels_fit_the_data(cls, channels: ChannelsSettings, info: ValidationInfo) -> ChannelsSettings:
        data, lexicon = info.data.get("data"), channels.lexicon
        if channels.towers.reads.starts_from_lexicon and not isinstance(lexicon, LexiconSettings):
            raise ValueError(
                "lexicon must be of the kind lexicon where towers.encoder.start is lexicon, because the encoder starts "
                f"from its translations; got {lexicon.kind if lexicon else None}"
            )
        if data is None:
            return channels
        if isinstance(lexicon, LexiconSettings) and lexicon.title_pairs and not data.has_held_out_titles:
            raise ValueError(
                "lexicon.title_pairs must be false without data.wikipedia and data.split queries: the titles come from "
                "the dumps, and only this split shows which of them are of held-out pages; got true"
            )
        if isinstance(lexicon, LexiconSettings) and lexicon.translator and data.languages_by_role:
            raise ValueError(
                "lexicon.translator must be null with several languages, because it translates from one into another; "
                f"got {lexicon.translator.kind}"
            )
        if data.passages and isinstance(channels.encoder, VectorsSettings):
            raise ValueError(
                "encoder.kind must not be vectors with data.passages, because the files hold vectors of whole documents"
            )
        for name, channel in channels.further.items():
            if channel.weight == HELD_OUT and not data.domains:
                raise ValueError(f"{name}.weight must not be {HELD_OUT} without data.domains")
        return channels

    @field_validator("embeddings")
    @classmethod
    def _vectors_fit_the_towers(cls, embeddings: EmbeddingSettings, info: ValidationInfo) -> EmbeddingSettings:
        channels = info.data.get("channels")
        if channels is None or not (embeddings.query or embeddings.document):
            return embeddings
        towers = channels.towers
        if not towers.reads.words:
            raise ValueError("query and document must be null, because these towers read stems or texts, not words")
        is_frozen = embeddings.query and embeddings.document and not embeddings.train
        if is_frozen and towers.has_only_tables and not towers.reads.stems:
            raise ValueError(
                "train must be true, or one of query and document null: these towers have no weights but those of the "
                "two tables"
            )
        return embeddings

    @field_validator("feedback")
    @classmethod
    def _feedback_needs_words(cls, feedback: FeedbackSettings, info: ValidationInfo) -> FeedbackSettings:
        channels = info.data.get("channels")
        if not channels or not feedback.gain:
            return feedback
        if not channels.lexicon:
            raise ValueError(
                "gain must be 0 without channels.lexicon, because feedback compares documents by that channel's "
                f"weights of words; got {feedback.gain}"
            )
        if fault := channels.index_fault():
            raise ValueError(f"gain must be 0, because no index can search this score: {fault}; got {feedback.gain}")
        return feedback

    @field_validator("search")
    @classmethod
    def _index_can_search_the_score(cls, search: SearchSettings, info: ValidationInfo) -> SearchSettings:
        channels = info.data.get("channels")
        if search.index and channels and (fault := channels.index_fault()):
            raise ValueError(f"index must be false, because no index can search this score: {fault}; got true")
        data = info.data.get("data")
        if search.fields and data and data.wikipedia:
            raise ValueError(
                f"fields must be empty, because pages of Wikipedia have none; got {', '.join(search.fields)}"
            )
        return search

    @field_validator("loss")
    @classmethod
    def _loss_fits_the_grades(cls, loss: LossSettings, info: ValidationInfo) -> LossSettings:
        data = info.data.get("data")
        if data and (fault := loss.fault_for(data.top_grade)):
            raise ValueError(fault)
        return loss.for_grades(data.top_grade) if data else loss

    @field_validator("adversary")
    @classmethod
    def _adversary_needs_domains(cls, adversary: AdversarySettings, info: ValidationInfo) -> AdversarySettings:
        data = info.data.get("data")
        if data and adversary.weight and not data.domains:
            raise ValueError(f"weight must be 0 without data.domains; got {adversary.weight:g}")
        if data and adversary.held_out_texts and not data.held_out:
            raise ValueError("held_out_texts must be false where data.held_out names no domain; got true")
        return adversary

    @field_validator("training")
    @classmethod
    def _equal_sampling_needs_domains(cls, training: TrainingSettings, info: ValidationInfo) -> TrainingSettings:
        data = info.data.get("data")
        if data and training.sampling == "equal" and not data.domains:
            raise ValueError("sampling must be natural without data.domains; got equal")
        return training

    @field_validator("training")
    @classmethod
    def _fill_training_defaults(cls, training: TrainingSettings, info: ValidationInfo) -> TrainingSettings:
        channels, loss = info.data.get("channels"), info.data.get("loss")
        if not channels or not loss:
            return training
        if fault := objective_fault(channels.towers, loss, training):
            raise ValueError(fault)
        counted = [name for name, channel in channels.for_training.items() if channel.in_training]
        if counted and (training.objective or default_objective(loss)).kind == "in_batch":
            raise ValueError(
                "objective must not be in_batch where a channel is in_training, because such a channel scores only a "
                "list's own documents; set loss.in_batch to false and loss.softmax_weight to 0; got in_training for "
                + ", ".join(counted)
            )
        return training.for_towers(channels.towers)

    @field_validator("tuning")
    @classmethod
    def _search_fits_towers_and_loss(cls, tuning: TuningSettings, info: ValidationInfo) -> TuningSettings:
        channels, loss = info.data.get("channels"), info.data.get("loss")
        if channels and loss and (fault := tuning.fault_for(channels.towers, loss)):
            raise ValueError(fault)
        return tuning

    @field_validator("evaluation")
    @classmethod
    def _paper_batch_is_divisible(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        training = info.data.get("training")
        lists = TrainingSettings.model_fields["batch_lists"].default
        workers, replicas = (training.workers or 1, training.replicas or 1) if training else (1, 1)
        if "paper" in evaluation.baselines and lists % (workers * replicas):
            raise ValueError(
                f"baselines must not name paper, whose batch of {lists} lists cannot be divided among the workers x "
                f"replicas of the training; got {workers} x {replicas}"
            )
        return evaluation

    @field_validator("evaluation")
    @classmethod
    def _baselines_can_translate(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        data, channels = info.data.get("data"), info.data.get("channels")
        if not data or not channels:
            return evaluation
        across = [name for name in evaluation.baselines if name in ACROSS_LANGUAGES]
        if is_one_language(data.languages) and across:
            raise ValueError(f"baselines must not name {across[0]} where queries and documents have one language")
        named = _translating(evaluation, data)
        if named and not isinstance(channels.lexicon, LexiconSettings):
            raise ValueError(
                f"baselines must not name {named[0]} without a channels.lexicon of the kind lexicon, whose "
                "translations it needs; got " + ", ".join(evaluation.baselines)
            )
        return evaluation

    @field_validator("evaluation")
    @classmethod
    def _baselines_have_a_translator(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        translating = [name for name in evaluation.baselines if name in MACHINE_TRANSLATING]
        if bool(translating) != (evaluation.query_translator is not None):
            names, translator = " or ".join(MACHINE_TRANSLATING), evaluation.query_translator
            raise ValueError(
                f"query_translator must be given with the baselines {names}, and only with them; got "
                f"{translator.kind if translator else None} with the baselines {', '.join(evaluation.baselines)}"
            )
        data = info.data.get("data")
        if evaluation.query_translator and data and data.languages_by_role:
            raise ValueError(
                "query_translator must be null with several languages, because it translates from one into another; "
                f"got {evaluation.query_translator.kind}"
            )
        return evaluation

    @property
    def trained_domains(self) -> TrainedDomains:
        """The number of domains that must be trained on."""
        needed = {}
        if self.channels.has_held_out_weight:
            needed[f"a weight that is {HELD_OUT}"] = 2
        if self.adversary.weight and not self.adversary.held_out_texts:
            # A weight that is held_out is fitted with rankers that are trained without one of the domains.
            needed["adversary.weight without adversary.held_out_texts"] = 3 if needed else 2
        max_domains = self.training.batch_lists if self.training.sampling == "equal" else None
        return TrainedDomains(max(needed.values(), default=1), " beside ".join(reversed(needed)), max_domains)

    @property
    def translating_baselines(self) -> list[str]:
        """The baselines that need the lexicon's translations."""
        return _translating(self.evaluation, self.data)

    def paper_baseline(self) -> "RunConfig":
        """The configuration of the paper's system as a baseline: the preset `paper`, resolved.

        It has the same lists, vocabularies, seed and devices, and no word vectors.
        """
        return RunConfig.model_validate(
            {
                "preset": "paper",
                "data": self.data.model_dump(),
                "training": self.training.model_dump(include={"seed", "device", "replicas", "workers"}),
                "output": self.output,
            }
        )

    def text_paths(self) -> dict[str, str]:
        """The paths of queries and documents: those of the settings, or of the files that a run makes from dumps."""
        data, folder = self.data, Path(self.output) / WIKIPEDIA
        end = "*" if data.wikipedia and data.wikipedia.shards > 1 else ""
        made = {role: str(folder / f"{name}{end}") for role, name in data.made_files().items()}
        return {"queries": data.queries or made["queries"], "documents": data.documents or made["documents"]}


def with_channel(config: RunConfig, name: str, channel: Settings) -> RunConfig:
    """The configuration with another section of `channels`."""
    return config.model_copy(update={"channels": config.channels.model_copy(update={name: channel})})


def without_folders(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain values for publication: file names without folders, and nothing about the machine."""
    content = config.model_dump(mode="json", exclude={"output", "kubeflow", "beam"})
    for setting in path_settings(RunConfig, content):
        setting.section[setting.keys[-1]] = os.path.basename(setting.path)
    return content


def _translating(evaluation: EvaluationSettings, data: DataSettings) -> list[str]:
    """The baselines that need the lexicon's translations; none within one language."""
    return [] if is_one_language(data.languages) else [name for name in evaluation.baselines if name in TRANSLATING]
