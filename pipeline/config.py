"""The configuration of a run: one YAML file, checked whole before anything heavy is imported."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pydantic
import yaml
from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from components.settings import EvaluationSettings, SearchSettings
from components.wikiclir_example_gen.settings import DataSettings
from models.adversary_settings import AdversarySettings
from models.channels import ChannelsSettings
from models.choices import ACROSS_LANGUAGES, HELD_OUT, MACHINE_TRANSLATING, TRANSLATING
from models.job import default_objective, objective_fault
from models.lexicon.settings import LexiconSettings
from models.losses.settings import LossSettings, SoslSettings
from models.rankers.settings import ScorerSettings
from models.settings import EmbeddingSettings, FeedbackSettings
from models.training.settings import TrainingSettings
from models.tuning.settings import TuningSettings
from pipeline.beam_settings import BeamSettings, InProcessSettings
from pipeline.input_files import check_inputs, domains_in, file_fault, files_of, is_remote
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.layout import WIKIPEDIA
from pipeline.output_folder import Kind, output_fault
from pipeline.presets import DEFAULT, PRESETS, fault_of_another_preset, fault_of_no_preset, with_preset
from pipeline.renamed_settings import renamed_faults, without_renamed
from pipeline.settings_file import Locations, apply_override, describe_fault, location_of, read_settings_file
from schemas.domains import TrainedDomains, held_out_fault
from schemas.errors import ConfigError
from schemas.settings import OneOf, OutputPath, Settings, expand_kinds, path_settings
from schemas.wikiclir import documents_file, queries_file
from smooth_clir.wikipedia.settings import WikipediaSettings


class SourceSettings(DataSettings):
    """The collection: files in any form of docs/formats.md, plain or packed, or dumps (see docs/wikipedia.md)."""

    vocabulary_size: Annotated[int, Field(ge=1, lt=2**31)] = 100_000
    """Number of most frequent words kept per language; with `embeddings` also the number of their words."""

    wikipedia: WikipediaSettings | None = None
    """Dumps of the wikis of both languages. A first stage makes queries, documents and judgments of them; these three
    settings must be null."""

    @property
    def has_held_out_titles(self) -> bool:
        """Whether the titles of pages that only eval and test queries are about are known."""
        return self.wikipedia is not None and self.split == "queries"

    @model_validator(mode="after")
    def _dumps_cover_the_languages(self) -> "SourceSettings":
        if self.wikipedia and (missing := self.wikipedia.missing_for(self.query_language, self.document_language)):
            raise ValueError(f"wikipedia.{missing}")
        return self


class RunConfig(Settings):
    """Everything that decides a run."""

    preset: Annotated[str, AfterValidator(OneOf(PRESETS))] = DEFAULT
    """Source of the settings that are not given: paper (the paper's system), best (a lexicon beside the vectors, and a
    stronger tower), closed (best and a softmax term), polynomial (Polynomial Semantic Indexing), or cossim and
    duet_distributed (the rankers of Cohen et al. 2018); closed and polynomial are for collections whose documents are
    all known when training."""
    data: SourceSettings
    """The collection."""
    channels: ChannelsSettings = ChannelsSettings()
    """The channels of the score, which is that of `towers` plus the weighted scores of the others. Each names its kind,
    or is a bare kind. A channel of another name than these four is a further one, of the kind cl_lsi or of one that was
    added (CONTRIBUTING.md says how)."""
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
    """The Beam runner of the stages that machines may share."""
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
                "lexicon must be of the kind lexicon where towers.encoder.start is lexicon, whose translations it "
                f"starts from; got {lexicon.kind if lexicon else None}"
            )
        if data is None:
            return channels
        if isinstance(lexicon, LexiconSettings) and lexicon.title_pairs and not data.has_held_out_titles:
            raise ValueError(
                "lexicon.title_pairs must be false but with data.wikipedia and data.split queries: the titles are "
                "those of its dumps, and those of held-out pages are known where the queries are divided; got true"
            )
        for name, channel in channels.further.items():
            if channel.weight == HELD_OUT and not data.domains:
                raise ValueError(
                    f"{name}.weight must not be {HELD_OUT} without data.domains, which are left out in turn"
                )
        return channels

    @field_validator("embeddings")
    @classmethod
    def _vectors_fit_the_towers(cls, embeddings: EmbeddingSettings, info: ValidationInfo) -> EmbeddingSettings:
        channels = info.data.get("channels")
        if channels is None or not (embeddings.query or embeddings.document):
            return embeddings
        towers = channels.towers
        if not towers.reads.words:
            raise ValueError("query and document must be null where words have no vectors, but stems or texts have")
        is_frozen = embeddings.query and embeddings.document and not embeddings.train
        if is_frozen and towers.has_only_tables and not towers.reads.stems:
            raise ValueError(
                "train must be true, or one of query and document null: with both tables frozen there is nothing to "
                "train, for these towers have no other weights"
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
                "gain must be 0 without channels.lexicon, because feedback compares documents by the weights of the "
                f"channel of words that match; got {feedback.gain}"
            )
        if fault := channels.index_fault():
            raise ValueError(
                f"gain must be 0, because feedback needs a score that an index can search, and {fault}; "
                f"got {feedback.gain}"
            )
        return feedback

    @field_validator("search")
    @classmethod
    def _index_can_search_the_score(cls, search: SearchSettings, info: ValidationInfo) -> SearchSettings:
        channels = info.data.get("channels")
        if search.index and channels and (fault := channels.index_fault()):
            raise ValueError(f"index must be false, because no index can search this score: {fault}; got true")
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
            raise ValueError(f"weight must be 0 without data.domains, which it tells apart; got {adversary.weight:g}")
        if data and adversary.held_out_texts and not data.held_out:
            raise ValueError("held_out_texts must be false where data.held_out names no domain; got true")
        return adversary

    @field_validator("training")
    @classmethod
    def _equal_sampling_needs_domains(cls, training: TrainingSettings, info: ValidationInfo) -> TrainingSettings:
        data = info.data.get("data")
        if data and training.sampling == "equal" and not data.domains:
            raise ValueError("sampling must be natural without data.domains, which come in turn; got equal")
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
                "objective must not be in_batch where a channel is in_training, whose scores are of the lists' own "
                "documents alone; set loss.in_batch to false and loss.softmax_weight to 0; got in_training for "
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
        if data.query_language == data.document_language and across:
            raise ValueError(f"baselines must not name {across[0]} where queries and documents have one language")
        named = _translating(evaluation, data)
        if named and not isinstance(channels.lexicon, LexiconSettings):
            raise ValueError(
                f"baselines must not name {named[0]} without a channels.lexicon of the kind lexicon, for it needs the "
                "lexicon's translations; got " + ", ".join(evaluation.baselines)
            )
        return evaluation

    @field_validator("evaluation")
    @classmethod
    def _baselines_have_a_translator(cls, evaluation: EvaluationSettings) -> EvaluationSettings:
        translating = [name for name in evaluation.baselines if name in MACHINE_TRANSLATING]
        if bool(translating) != (evaluation.query_translator is not None):
            names, translator = " or ".join(MACHINE_TRANSLATING), evaluation.query_translator
            raise ValueError(
                f"query_translator must be given with the baselines {names}, and with them alone; got "
                f"{translator.kind if translator else None} with the baselines {', '.join(evaluation.baselines)}"
            )
        return evaluation

    @property
    def trained_domains(self) -> TrainedDomains:
        """The number of domains that must be trained on."""
        needed = {}
        if self.channels.has_held_out_weight:
            needed[f"a weight that is {HELD_OUT}"] = 2
        if self.adversary.weight and not self.adversary.held_out_texts:
            # The rankers that such a weight is fitted with are trained without one of the domains.
            needed["adversary.weight without adversary.held_out_texts"] = 3 if needed else 2
        max_domains = self.training.batch_lists if self.training.sampling == "equal" else None
        return TrainedDomains(max(needed.values(), default=1), " beside ".join(reversed(needed)), max_domains)

    @property
    def translating_baselines(self) -> list[str]:
        """The baselines that need the lexicon's translations."""
        return _translating(self.evaluation, self.data)

    def paper_beside(self) -> "RunConfig":
        """The paper's own system as a baseline beside this one: the preset `paper`, resolved.

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
        """The paths of the queries and the documents after a run: given, or made of dumps."""
        data, folder = self.data, Path(self.output) / WIKIPEDIA
        end = "*" if data.wikipedia and data.wikipedia.shards > 1 else ""
        return {
            "queries": data.queries or str(folder / f"{queries_file(data.query_language)}{end}"),
            "documents": data.documents or str(folder / f"{documents_file(data.document_language)}{end}"),
        }


def load_config(path: str, overrides: Sequence[str] = (), for_cluster: bool = False) -> RunConfig:
    """Reads and checks a configuration, and the form of the files it names.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      overrides: `section.key=value`, the value in YAML. Relative paths in them are relative to the current folder.
      for_cluster: see `check_config`.

    Returns:
      the configuration, with absolute paths.

    Raises:
      ConfigError: with every fault, each with its location.
    """
    content, locations, faults = read_settings_file(path, RunConfig)
    for override in overrides:
        faults += apply_override(content, locations, override, RunConfig, fault_of_another_preset)
    return check_config(content, locations, path, faults, for_cluster=for_cluster)


def check_config(
    content: Mapping[str, Any],
    locations: Locations,
    path: str,
    faults: Sequence[str] = (),
    kind: Kind = "run",
    for_cluster: bool = False,
    has_files: bool = True,
) -> RunConfig:
    """Checks raw settings, and the form of the files that they name.

    Args:
      content: with absolute paths.
      locations: of the keys.
      path: the location of keys that are not in the file.
      faults: found before.
      kind: of the output's writer.
      for_cluster: whether the run is elsewhere: its output is not tried here, and files in `kubeflow.volumes` need not
        be here.
      has_files: False looks at no file, and tries no output.

    Raises:
      ConfigError: with every fault, each with its location.
    """
    faults = [*faults, *renamed_faults(content, locations, path)]
    content = without_renamed(content)
    if fault := fault_of_no_preset(content):
        faults.append(f"{path}: preset: {fault}")
    content = with_preset(content, RunConfig)
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, locations, path, RunConfig) for error in errors.errors()]
    else:
        for name, fault in _domain_faults(config) if has_files else ():
            faults.append(f"{location_of(('data', name), locations, path)}: data.{name}: {fault}")
    kubeflow = _kubeflow_in(content) if for_cluster else KubeflowSettings()
    settings = path_settings(RunConfig, content) if has_files else ()
    inputs = [setting for setting in settings if setting.form and not kubeflow.is_elsewhere(setting.path)]
    faults += [
        f"{location_of(setting.keys, locations, path)}: {setting.name}: {fault}"
        for setting, fault in check_inputs(inputs, _width_in(content))
    ]
    output = content.get("output")
    if (
        has_files
        and output
        and isinstance(output, str)
        and (fault := output_fault(output, None if for_cluster else kind))
    ):
        faults.append(f"{locations.get(('output',), path)}: output: {fault}")
    if faults:
        raise ConfigError(faults)
    return config


def dump_config(config: RunConfig, searched: Mapping[str, Any] | None = None) -> str:
    """The configuration as YAML that `load_config` reads back to the same.

    Args:
      config: resolved.
      searched: dotted settings to the values that its search found, for a comment: a rerun searches again.
    """
    header = "# The resolved configuration of this run: `clir run` on this file gives the same numbers.\n"
    if searched:
        header += f"# Its search found, and the model was trained with: {json.dumps(dict(searched))}\n"
    content = config.model_dump(mode="json")
    text, escaped = (yaml.safe_dump(content, sort_keys=False, allow_unicode=allowed) for allowed in (True, False))
    # PyYAML writes the line breaks that only Unicode has (U+0085, in a path) so that they are read as spaces.
    return header + (text if yaml.safe_load(text) == content else escaped)


def with_channel(config: RunConfig, name: str, channel: Settings) -> RunConfig:
    """The configuration with another section of `channels`."""
    return config.model_copy(update={"channels": config.channels.model_copy(update={name: channel})})


def without_folders(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain values for publication: file names without folders, and nothing on the machine."""
    content = config.model_dump(mode="json", exclude={"output", "kubeflow", "beam"})
    for setting in path_settings(RunConfig, content):
        setting.section[setting.keys[-1]] = os.path.basename(setting.path)
    return content


def _domain_faults(config: RunConfig) -> Iterator[tuple[str, str]]:
    """Faults of the domains that readable local files name, each with the setting of `data` that is at fault."""
    path, held_out, needed = config.data.domains, config.data.held_out, config.trained_domains
    if not path or (not held_out and needed == TrainedDomains()):
        return
    if is_remote(path) or any(map(file_fault, files_of(path))):
        return
    domains = domains_in(path)
    if domains and (fault := held_out_fault(held_out, domains)):
        yield "held_out", fault
    elif domains and (fault := needed.fault(domains.difference(held_out))):
        yield "domains", fault


def _kubeflow_in(content: Mapping[str, Any]) -> KubeflowSettings:
    """The settings of Kubeflow Pipelines; the defaults where they have faults, which `check_config` reports."""
    try:
        return KubeflowSettings.model_validate(content.get("kubeflow") or {})
    except pydantic.ValidationError:
        return KubeflowSettings()


def _translating(evaluation: EvaluationSettings, data: DataSettings) -> list[str]:
    """The baselines that need the lexicon's translations; none within one language."""
    is_monolingual = data.query_language == data.document_language
    return [] if is_monolingual else [name for name in evaluation.baselines if name in TRANSLATING]


def _width_in(content: Mapping[str, Any]) -> int | None:
    """The width of word vectors; None where the configuration's is not valid, or there are none."""
    channels = expand_kinds(RunConfig, content).get("channels")
    towers = channels.get("towers", {}) if isinstance(channels, Mapping) else {}
    kind = ScorerSettings.kind_of(towers)
    try:
        settings = {key: towers[key] for key in ("embedding_dim",) if isinstance(towers, Mapping) and key in towers}
        return (
            ScorerSettings.model_validate({"kind": kind.model_fields["kind"].default, **settings}).word_width
            if kind
            else None
        )
    except pydantic.ValidationError:
        return None
