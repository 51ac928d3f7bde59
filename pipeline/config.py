"""The configuration of a run: one YAML file, checked whole before anything heavy is imported."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pydantic
import yaml
from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from components.corpus_indexer.settings import SearchSettings
from components.gate.settings import EvaluationSettings
from components.wikiclir_example_gen.settings import DataSettings
from models.lexicon.settings import LexiconSettings
from models.settings import EmbeddingSettings, LossSettings, ModelSettings, TrainingSettings
from models.tuning.settings import TuningSettings
from pipeline.beam_settings import BeamSettings
from pipeline.dump_files import dump_fault, dump_sections
from pipeline.input_files import check_input_files, check_pairs, check_word_vectors, resolve_path
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.layout import WIKIPEDIA
from pipeline.output_folder import Kind, output_fault
from pipeline.presets import DEFAULT, PRESETS, fault_of_another_preset, is_of_an_earlier_version, with_preset
from pipeline.settings_file import Places, apply_override, describe_fault, place_of, read_settings_file
from schemas.errors import ConfigError
from schemas.settings import OneOf, Settings
from schemas.wikiclir import documents_file, queries_file
from wikipedia.settings import FILE_KEYS, WikipediaSettings

INPUT_FILES = ("queries", "documents", "judgments", "candidates")
"""The keys of `data` that name files."""

VECTOR_FILES = ("query", "document")
"""The keys of `embeddings` that name files."""

PAIR_FILES = ("pairs",)
"""The keys of `lexicon` that name files."""

Say = Callable[[str], None]
"""Takes a line for a person."""


class SourceSettings(DataSettings):
    """The collection: WikiCLIR files (see docs/formats.md), plain or gzipped, or dumps (see docs/wikipedia.md)."""

    wikipedia: WikipediaSettings | None = None
    """Dumps of the wikis of both languages, of which a first stage makes queries, documents and judgments; the three
    are null then."""

    @model_validator(mode="after")
    def _dumps_have_the_pair(self) -> "SourceSettings":
        if self.wikipedia and (missing := self.wikipedia.missing_for(self.query_language, self.document_language)):
            raise ValueError(f"wikipedia.{missing}")
        return self


class RunConfig(Settings):
    """Everything that decides a run."""

    preset: Annotated[str, AfterValidator(OneOf(PRESETS))] = DEFAULT
    """Where settings come from that are not given: paper (the paper's system), best (a lexicon beside the vectors, and
    a stronger tower) or closed (best and a softmax term, for collections whose documents are all known when
    training)."""
    data: SourceSettings
    """The collection."""
    model: ModelSettings = ModelSettings()
    """The ranker."""
    embeddings: EmbeddingSettings = EmbeddingSettings()
    """The word vectors that training starts from."""
    lexicon: LexiconSettings = LexiconSettings()
    """The channel of words that match, beside the vectors."""
    loss: LossSettings = LossSettings()
    """The training loss."""
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
    beam: BeamSettings = BeamSettings()
    """Where the stages that may be shared among machines run."""
    output: Annotated[str, Field(min_length=1)]
    """Folder of everything the run writes."""

    @model_validator(mode="before")
    @classmethod
    def _what_is_not_given_is_the_presets(cls, content: Any) -> Any:
        return with_preset(content, cls) if isinstance(content, Mapping) else content

    @field_validator("embeddings")
    @classmethod
    def _something_is_trained(cls, embeddings: EmbeddingSettings, info: ValidationInfo) -> EmbeddingSettings:
        model = info.data.get("model")
        tables_are_all = model is not None and model.encoder == "mean" and not model.stem_embeddings
        if tables_are_all and embeddings.query and embeddings.document and not embeddings.train:
            raise ValueError(
                "train must be true, or one of query and document null: with both tables frozen there is nothing to "
                "train, for the encoder mean has no other weights"
            )
        return embeddings

    @field_validator("lexicon")
    @classmethod
    def _titles_are_of_dumps(cls, lexicon: LexiconSettings, info: ValidationInfo) -> LexiconSettings:
        data = info.data.get("data")
        if lexicon.title_pairs and data and (data.wikipedia is None or data.split != "queries"):
            raise ValueError(
                "title_pairs must be false but with data.wikipedia and data.split queries: the titles are those of its "
                "dumps, and those of held-out pages are known where the queries are divided; got true"
            )
        return lexicon

    @field_validator("loss")
    @classmethod
    def _loss_fits_the_grades(cls, loss: LossSettings, info: ValidationInfo) -> LossSettings:
        data = info.data.get("data")
        if data and (fault := loss.fault_for(data.top_grade)):
            raise ValueError(fault)
        return loss

    @field_validator("training")
    @classmethod
    def _nulls_are_the_encoders_own(cls, training: TrainingSettings, info: ValidationInfo) -> TrainingSettings:
        model = info.data.get("model")
        return training.for_encoder(model.encoder) if model else training

    @field_validator("tuning")
    @classmethod
    def _thresholds_are_those_of_the_loss(cls, tuning: TuningSettings, info: ValidationInfo) -> TuningSettings:
        loss = info.data.get("loss")
        if loss and (fault := tuning.fault_for(loss)):
            raise ValueError(fault)
        return tuning

    @field_validator("evaluation")
    @classmethod
    def _feedback_has_words(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        lexicon = info.data.get("lexicon")
        if lexicon and lexicon.kind == "none" and evaluation.feedback:
            raise ValueError(
                "feedback must be 0 where lexicon.kind is none, for the channel of words that match has the weights by "
                f"which it compares documents; got {evaluation.feedback}"
            )
        return evaluation

    @field_validator("evaluation")
    @classmethod
    def _paper_has_its_grades(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        data = info.data.get("data")
        if data and data.top_grade != 2 and "paper" in evaluation.baselines:
            raise ValueError(
                "baselines must not name paper where data.top_grade is not 2: the paper's system has thresholds for "
                f"the grades 0, 1 and 2; got top_grade {data.top_grade}"
            )
        return evaluation

    @field_validator("evaluation")
    @classmethod
    def _papers_batch_can_be_divided(cls, evaluation: EvaluationSettings, info: ValidationInfo) -> EvaluationSettings:
        training = info.data.get("training")
        lists = TrainingSettings.model_fields["batch_lists"].default
        workers, replicas = (training.workers or 1, training.replicas or 1) if training else (1, 1)
        if "paper" in evaluation.baselines and lists % (workers * replicas):
            raise ValueError(
                f"baselines must not name paper, whose batch of {lists} lists cannot be divided among the workers x "
                f"replicas of the training; got {workers} x {replicas}"
            )
        return evaluation

    def input_paths(self) -> dict[str, str]:
        """The input file of each role that is set."""
        return _given_files(self.data, INPUT_FILES)

    def dump_paths(self) -> dict[str, str]:
        """The file of each dump that the collection is made of, by its key in `data.wikipedia`."""
        return self.data.wikipedia.paths() if self.data.wikipedia else {}

    def text_paths(self) -> dict[str, str]:
        """Where the queries and the documents lie for whoever reads them after a run: given, or made of dumps."""
        data, folder = self.data, Path(self.output) / WIKIPEDIA
        end = "*" if data.wikipedia and data.wikipedia.shards > 1 else ""
        return {
            "queries": data.queries or str(folder / f"{queries_file(data.query_language)}{end}"),
            "documents": data.documents or str(folder / f"{documents_file(data.document_language)}{end}"),
        }

    def pair_paths(self) -> dict[str, str]:
        """The file of further pairs for the lexicon, if there is one."""
        return _given_files(self.lexicon, PAIR_FILES)

    def vector_paths(self) -> dict[str, str]:
        """The file of word vectors of each side that has one."""
        return _given_files(self.embeddings, VECTOR_FILES)


def _given_files(section: Settings, keys: Sequence[str]) -> dict[str, str]:
    paths = {key: getattr(section, key) for key in keys}
    return {key: path for key, path in paths.items() if path is not None}


def say_nothing(line: str) -> None:
    """Ignores a line."""


def load_config(
    path: str, overrides: Sequence[str] = (), say: Say = say_nothing, for_cluster: bool = False
) -> RunConfig:
    """Reads and checks a configuration, and the form of the files it names.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      overrides: `section.key=value`, the value in YAML. Relative paths in them are relative to the current folder.
      say: called with each line that a person should read of a configuration without faults.
      for_cluster: see `check_config`.

    Returns:
      the configuration, with absolute paths.

    Raises:
      ConfigError: with every fault, each with its place.
    """
    content, places, faults = read_run_settings(path)
    for override in overrides:
        faults += apply_override(content, places, override, resolve_paths, fault_of_another_preset)
    return check_config(content, places, path, faults, say=say, for_cluster=for_cluster)


def read_run_settings(path: str) -> tuple[dict[str, Any], Places, list[str]]:
    """A run's settings as its file gives them, with absolute paths (see `read_settings_file`)."""
    content, places, faults = read_settings_file(path, RunConfig)
    resolve_paths(content, Path(path).parent)
    return content, places, faults


def check_config(
    content: Mapping[str, Any],
    places: Places,
    path: str,
    faults: Sequence[str] = (),
    kind: Kind = "run",
    say: Say = say_nothing,
    for_cluster: bool = False,
) -> RunConfig:
    """Checks raw settings, and the form of the files that they name.

    Args:
      content: with absolute paths.
      places: of its keys.
      path: the place of a key that stands nowhere.
      faults: those found before.
      kind: what writes the output.
      say: see `load_config`.
      for_cluster: whether the run is one elsewhere: its output is not tried here, and files on the volumes of
        `kubeflow.volumes` need not be here.

    Raises:
      ConfigError: with every fault, each with its place.
    """
    faults = list(faults)
    is_earlier, content = is_of_an_earlier_version(content), with_preset(content, RunConfig)
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, places, path, RunConfig) for error in errors.errors()]
    kubeflow = _kubeflow_in(content) if for_cluster else KubeflowSettings()
    files, tables, pairs = (
        {key: file for key, file in _files_in(content, section, keys).items() if not kubeflow.is_elsewhere(file)}
        for section, keys in (("data", INPUT_FILES), ("embeddings", VECTOR_FILES), ("lexicon", PAIR_FILES))
    )
    faults += [f"{places.get(('data', role), path)}: data.{role}: {fault}" for role, fault in check_input_files(files)]
    faults += [
        f"{places.get(('embeddings', side), path)}: embeddings.{side}: {fault}"
        for side, fault in check_word_vectors(tables, _width_in(content))
    ]
    faults += [f"{places.get(('lexicon', key), path)}: lexicon.{key}: {fault}" for key, fault in check_pairs(pairs)]
    faults += _dump_faults(content, places, path, kubeflow)
    output = content.get("output")
    if output and isinstance(output, str) and (fault := output_fault(output, None if for_cluster else kind)):
        faults.append(f"{places.get(('output',), path)}: output: {fault}")
    if faults:
        raise ConfigError(faults)
    if is_earlier:
        say(
            f"{path} names no preset and holds data.sha256, as resolved configurations of earlier versions do: it is "
            f"taken as preset {config.preset}, and gives what it gave"
        )
    return config


def dump_config(config: RunConfig, found: Mapping[str, Any] | None = None) -> str:
    """The configuration as YAML that `load_config` reads back to the same.

    Args:
      config: resolved.
      found: dotted settings to the values that its search found, which stand in a comment: the file searches again.
    """
    header = "# The resolved configuration of this run: `clir run` on this file gives the same numbers.\n"
    if found:
        header += f"# Its search found, and the model was trained with: {json.dumps(dict(found))}\n"
    content = config.model_dump(mode="json")
    text, escaped = (yaml.safe_dump(content, sort_keys=False, allow_unicode=allowed) for allowed in (True, False))
    # PyYAML writes the line breaks that only Unicode has (U+0085, in a path) so that they are read as spaces.
    return header + (text if yaml.safe_load(text) == content else escaped)


def without_folders(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain values for others' eyes: of a path the name alone, and nothing of where it ran."""
    content = config.model_dump(mode="json", exclude={"output", "kubeflow", "beam"})
    sections = {"data": config.input_paths(), "lexicon": config.pair_paths(), "embeddings": config.vector_paths()}
    for section, paths in sections.items():
        content[section] |= {key: os.path.basename(path) for key, path in paths.items()}
    for dumps, _ in _dump_sections(content):
        dumps |= {key: os.path.basename(dumps[key]) for key in FILE_KEYS if dumps.get(key)}
    return content


def _files_in(content: Mapping[str, Any], section: str, keys: Sequence[str]) -> dict[str, str]:
    """The paths in a section of a raw configuration."""
    given = content.get(section)
    values = given if isinstance(given, dict) else {}
    return {key: values[key] for key in keys if isinstance(values.get(key), str) and values[key]}


def _dump_faults(content: Mapping[str, Any], places: Places, path: str, kubeflow: KubeflowSettings) -> Iterator[str]:
    """What is wrong with the dump files of a raw configuration, at first sight."""
    for section, keys in _dump_sections(content):
        for key in FILE_KEYS:
            file = section.get(key)
            if isinstance(file, str) and file and not kubeflow.is_elsewhere(file) and (fault := dump_fault(file)):
                yield f"{place_of((*keys, key), places, path)}: {'.'.join((*keys, key))}: {fault}"


def _dump_sections(content: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """The parts of a raw configuration that name dump files, and their keys."""
    data = content.get("data")
    wikipedia = data.get("wikipedia") if isinstance(data, dict) else None
    if isinstance(wikipedia, dict):
        yield from dump_sections(wikipedia, ("data", "wikipedia"))


def _kubeflow_in(content: Mapping[str, Any]) -> KubeflowSettings:
    """The settings of Kubeflow Pipelines; the defaults where they have faults, which are told elsewhere."""
    try:
        return KubeflowSettings.model_validate(content.get("kubeflow") or {})
    except pydantic.ValidationError:
        return KubeflowSettings()


def _width_in(content: Mapping[str, Any]) -> int | None:
    """The width that word vectors must have; None where the configuration does not give one that can be."""
    model = content.get("model")
    given = {key: value for key, value in model.items() if key == "embedding_dim"} if isinstance(model, dict) else {}
    try:
        return ModelSettings.model_validate(given).embedding_dim
    except pydantic.ValidationError:
        return None


def resolve_paths(content: dict[str, Any], folder: Path) -> None:
    """Makes the paths in a raw configuration absolute."""
    files = (
        (content.get("data"), INPUT_FILES),
        (content.get("embeddings"), VECTOR_FILES),
        (content.get("lexicon"), PAIR_FILES),
        (content, ("output",)),
    )
    dumps = ((section, FILE_KEYS) for section, _ in _dump_sections(content))
    for section, keys in (*files, *dumps):
        if isinstance(section, dict):
            for key in keys:
                if isinstance(section.get(key), str) and section[key]:
                    section[key] = resolve_path(section[key], folder)
