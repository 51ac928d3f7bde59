"""The inputs of a training: its job and files, and the lists, vectors and channels that they name."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_transform as tft
from tensorflow import keras

from models.encoders.text_vectors import TextVectors, with_text_vectors
from models.job import TrainingJob
from models.lexicon.lexicon import WITHOUT_DOMAIN, read_lexicon
from models.lexicon.singular_vectors import singular_vectors
from models.lists.document_frequency import idf_of_terms
from models.lists.ranking_lists import RankingLists, read_lists
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.scorer import FixedScorer, ScorerInputs, Words
from models.rankers.settings import ChannelSettings, ScorerSettings
from models.training.pretrained import VectorsReport, read_pretrained, vocabulary_size
from models.unfinished_work import unfinished_work
from schemas import features as f
from schemas.domains import DomainFilter, domains_to_test, domains_to_train
from schemas.languages import is_one_language

log = logging.getLogger("clir.training")

_DOCUMENT_VOCABULARIES: Final = {
    f.QUERY_VOCABULARY: f.DOCUMENT_VOCABULARY,
    f.QUERY_STEM_VOCABULARY: f.DOCUMENT_STEM_VOCABULARY,
}
"""The documents' vocabulary for each of the queries' vocabularies."""


@dataclass(frozen=True)
class TrainingArguments:
    """The arguments of a training as plain values for another process.

    Attributes:
      job: the training, as JSON.
      hyperparameters: the best numbers of a previous search; None without a search.
      train_files, ..., serving_model_dir: files and folders by TFX's names (see its `FnArgs`).
    """

    job: str
    hyperparameters: dict[str, Any] | None
    train_files: list[str]
    eval_files: list[str]
    transform_graph_path: str
    model_run_dir: str | None
    serving_model_dir: str | None

    @classmethod
    def from_fn_args(cls, fn_args: Any) -> "TrainingArguments":
        """Takes the arguments from TFX's `FnArgs`, which workers need not import."""
        names = cls.__dataclass_fields__.keys() - {"job"}
        job = TrainingJob.model_validate(fn_args.custom_config).model_dump_json()
        return cls(job=job, **{name: getattr(fn_args, name) for name in names})

    @property
    def training_job(self) -> TrainingJob:
        """The job, with the best numbers of a search in its settings."""
        return TrainingJob.model_validate_json(self.job).with_numbers(self.best_numbers)

    def without(self, domain: str, number: int) -> "TrainingArguments":
        """Returns the arguments of a training without a domain.

        Args:
          domain: the domain's name.
          number: its index among the sorted domains of the train lists, the name of the lexicon without it.
        """
        job = TrainingJob.model_validate_json(self.job)
        updates: dict[str, Any] = {"held_out": (*job.held_out, domain)}
        if job.lexicon is not None:
            updates["lexicon"] = f"{job.lexicon}/{WITHOUT_DOMAIN}/{number}"
        return replace(self, job=job.model_copy(update=updates).model_dump_json())

    @property
    def best_numbers(self) -> dict[str, float]:
        """The best numbers of a search before the training; empty without a search."""
        return self.hyperparameters["values"] if self.hyperparameters else {}

    def as_dict(self) -> dict[str, Any]:
        """Returns the arguments for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class TrainingInputs:
    """The job and the data of a training.

    Attributes:
      job: the training's job.
      transform: Transform's graph and vocabularies.
      train_lists, eval_lists: lists of the two splits; the eval lists have the scores of the fixed channels and the
        positions of NR documents, the train lists the scores of the channels in training.
      vectors: the reports on pre-trained vectors, by vocabulary.
      query_words, document_words: the words of the two languages.
      fixed_channels: the channels that are learned before the training, by name.
      train_texts, eval_texts: read the two splits as texts.
      held_out_texts: the train queries of held-out domains with random documents, for an adversary; None without it.
      domains: the names of the domains of the train lists, sorted.
      without: reads the inputs of a training without a domain, with a lexicon that does not know it.
      eval_lists_of: reads the eval lists of a domain, with the scores of the fixed channels.
      text_vectors: the vectors of all texts by a pre-trained encoder; None without an encoder.
    """

    job: TrainingJob
    transform: tft.TFTransformOutput
    train_lists: RankingLists
    eval_lists: RankingLists
    vectors: Mapping[str, VectorsReport]
    query_words: Words
    document_words: Words
    fixed_channels: Mapping[str, FixedScorer]
    train_texts: Callable[[], RankingLists]
    eval_texts: Callable[[], RankingLists]
    held_out_texts: RankingLists | None
    domains: Sequence[str]
    without: Callable[[str], "TrainingInputs"]
    eval_lists_of: Callable[[str], RankingLists]
    text_vectors: TextVectors | None = None

    def with_numbers(self, numbers: Mapping[str, float]) -> "TrainingInputs":
        """Returns the inputs with the numbers of a search's trial in the job."""
        return replace(self, job=self.job.with_numbers(numbers))

    @property
    def channels_in_training(self) -> dict[str, FixedScorer]:
        """The fixed channels that are part of the score in training, by name."""
        return {name: channel for name, channel in self.fixed_channels.items() if self.job.channels[name].in_training}

    def for_scorer(self, name: str, settings: ScorerSettings | ChannelSettings) -> ScorerInputs:
        """Returns the inputs of a scorer with a channel's name and settings."""
        words, texts = (self.query_words, self.document_words), (self.train_texts, self.eval_texts)
        return ScorerInputs(name, settings, self.job, *words, *texts)


def read_inputs(arguments: TrainingArguments) -> TrainingInputs:
    """Reads the data of a training, and makes the channels that are learned before it.

    Raises:
      DataError: a vocabulary is empty, or its word vectors have changed.
    """
    # A user's ~/.keras/keras.json must not change a run's numbers.
    keras.backend.set_floatx("float32")
    keras.backend.set_epsilon(1e-7)
    job = arguments.training_job
    transform = tft.TFTransformOutput(arguments.transform_graph_path)
    # A baseline may use fewer columns of the examples than the run's model.
    unused = [
        *(() if job.towers.reads.words else (f.QUERY_TOKENS, f.DOC_TOKENS)),
        *(() if job.towers.reads.stems else (f.QUERY_STEMS, f.DOC_STEMS)),
    ]
    spec = {name: feature for name, feature in transform.transformed_feature_spec().items() if name not in unused}
    known = domains_to_train(job.held_out)
    vectors = TextVectors(job.text_vectors) if job.text_vectors else None

    def texts(split: str, domains: DomainFilter) -> RankingLists:
        lists = read_lists(_files([job.texts[split]]), used_negatives=job.used_negatives, domains=domains)
        return with_text_vectors(lists, lists, vectors) if vectors else lists

    def tokens(split: str, domains: DomainFilter) -> RankingLists:
        files = arguments.train_files if split == "train" else arguments.eval_files
        lists = read_lists(_files(files), spec, job.used_negatives, domains, with_negative_places=split == "eval")
        is_read = vectors and not job.towers.reads_words
        return with_text_vectors(lists, texts(split, domains), vectors) if vectors and is_read else lists

    train_lists, eval_lists = (tokens(split, known) for split in ("train", "eval"))
    domains = sorted({*train_lists.domains})
    pretrained = {
        name: read_pretrained(transform, name, job.word_tables[name])
        for name in f.COUNTS_OF_VOCABULARY
        if name in job.word_tables
    }
    query_words, document_words = _words(job, transform, {name: words for name, (words, _) in pretrained.items()})
    if job.towers.reads.idf:
        query_words, document_words = _with_idf(query_words, document_words, job, transform, train_lists)

    def trained(lists: RankingLists) -> RankingLists:
        return lists.with_judged_negatives() if job.training.negatives_from == "judged" else lists

    fixed: dict[str, FixedScorer] = {}

    def with_scores(lists: RankingLists, domains: DomainFilter) -> RankingLists:
        return with_fixed_scores(lists, texts("eval", domains), fixed.values()) if fixed else lists

    def eval_lists_of(domain: str) -> RankingLists:
        return with_scores(tokens("eval", domains_to_test([domain])), domains_to_test([domain]))

    held_out_texts = None
    if job.adversary.weight and job.adversary.held_out_texts:
        held_out = tokens("train", domains_to_test(job.held_out))
        held_out_texts = held_out.with_random_documents(job.training.seed)
    inputs = TrainingInputs(
        job=job,
        transform=transform,
        train_lists=trained(train_lists),
        eval_lists=eval_lists,
        vectors={name: report for name, (_, report) in pretrained.items()},
        query_words=query_words,
        document_words=document_words,
        fixed_channels={},
        train_texts=partial(texts, "train", known),
        eval_texts=partial(texts, "eval", known),
        held_out_texts=held_out_texts,
        domains=domains,
        without=lambda domain: read_inputs(arguments.without(domain, domains.index(domain))),
        eval_lists_of=eval_lists_of,
        text_vectors=vectors,
    )
    for name, settings in job.channels.items():
        scorer = settings.load()
        if issubclass(scorer, FixedScorer):
            fixed[name] = scorer.make(inputs.for_scorer(name, settings))
    inputs = replace(inputs, fixed_channels=fixed, eval_lists=with_scores(inputs.eval_lists, known))
    if inputs.channels_in_training:
        scorers = inputs.channels_in_training.values()
        inputs = replace(
            inputs, train_lists=with_fixed_scores(inputs.train_lists, trained(texts("train", known)), scorers)
        )
    return inputs


def unfinished_folder(arguments: TrainingArguments, inputs: TrainingInputs, devices: str, removes: bool = True) -> str:
    """Returns the folder of an unfinished training or search, and removes the folders of others.

    Args:
      arguments: the training's arguments.
      inputs: the training's data.
      devices: the numbers of replicas and workers over which the training sums.
      removes: whether to remove the folders of others; among several workers only the chief does.

    Returns:
      a folder named by a digest of everything that affects a training: settings, code, data, devices.
    """
    parts = [arguments.job, repr(sorted(arguments.best_numbers.items()))]
    lists = [inputs.train_lists, inputs.eval_lists, *([inputs.held_out_texts] if inputs.held_out_texts else [])]
    parts += [*(split_lists.digest() for split_lists in lists), devices]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    folder, removed = unfinished_work(inputs.job.checkpoints, key, removes)
    if removed:
        log.info("removed an unfinished training with other data, code or settings; starting from the first epoch")
    return folder


def _words(job: TrainingJob, transform: tft.TFTransformOutput, pretrained: Mapping[str, Words]) -> list[Words]:
    """Returns the words of queries and of documents, with their initial vectors."""
    if not job.towers.reads_words:
        return [Words(0), Words(0)]
    if job.towers.reads.words:
        stems = f.STEMS_OF_VOCABULARY if job.towers.reads.stems else {}
        size = transform.vocabulary_size_by_name
        return [
            (pretrained.get(name) or Words(vocabulary_size(transform, name)))._replace(
                stems=size(stems[name]) if name in stems else 0
            )
            for name in (f.QUERY_VOCABULARY, f.DOCUMENT_VOCABULARY)
        ]
    names = f.QUERY_STEM_VOCABULARY, f.DOCUMENT_STEM_VOCABULARY
    words = [Words(vocabulary_size(transform, name)) for name in names]
    if not job.towers.reads.starts_from_lexicon or job.towers.word_width is None:
        return words
    if job.lexicon is None:
        raise ValueError("the start from the lexicon needs a lexicon; got none.")
    query_terms, document_terms = map(transform.vocabulary_by_name, names)
    start = singular_vectors(read_lexicon(job.lexicon), query_terms, document_terms, job.towers.word_width)
    return [side_words._replace(vectors=vectors) for side_words, vectors in zip(words, start, strict=True)]


def _with_idf(
    query_words: Words, document_words: Words, job: TrainingJob, transform: tft.TFTransformOutput, train: RankingLists
) -> Iterator[Words]:
    """Yields the words of both sides with their inverse document frequencies, and those of their stems."""
    for words, vocabulary, stems in (
        (query_words, f.QUERY_VOCABULARY, f.QUERY_STEM_VOCABULARY),
        (document_words, f.DOCUMENT_VOCABULARY, f.DOCUMENT_STEM_VOCABULARY),
    ):
        yield words._replace(
            idf=_idf(vocabulary if job.towers.reads.words else stems, job, transform, train),
            stem_idf=_idf(stems, job, transform, train) if job.towers.reads.words and job.towers.reads.stems else None,
        )


def _idf(
    vocabulary: str, job: TrainingJob, transform: tft.TFTransformOutput, train: RankingLists
) -> npt.NDArray[np.float32]:
    """The inverse document frequency of each term of a vocabulary among the train split's texts: float [terms].

    The texts are the queries or the documents; within a language, the documents for both. Queries and documents then
    share a vector space, as in Bai et al. 2009. Short queries are poor evidence of how rare a word is.
    """
    counted = _DOCUMENT_VOCABULARIES.get(vocabulary, vocabulary) if is_one_language(job.languages) else vocabulary
    column = f.COLUMN_OF_VOCABULARY[counted]
    columns = train.query_columns if f.is_of_query(column) else train.document_columns
    rows = {term: row for row, term in enumerate(transform.vocabulary_by_name(counted))}
    idf = idf_of_terms(columns[column], len(rows) + 1)  # the last is for terms that no text has
    return idf[[rows.get(term, len(rows)) for term in transform.vocabulary_by_name(vocabulary)]]


def _files(patterns: list[str]) -> list[str]:
    return [path for pattern in patterns for path in tf.io.gfile.glob(pattern)]
