"""Trains rankers from the inputs of Trainer and Tuner, and exports them."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf

from models.choices import FEW_LISTS, FIRST_WEIGHT, FITTED, HELD_OUT
from models.encoders.load_encoder import load_encoder
from models.encoders.pretrained_encoder import GraphEncoder
from models.encoders.settings import check_files
from models.evaluation.relevance_shares import RelevanceShares, fit_relevance_shares
from models.exported.export import ExportedEncoder, export_ranker
from models.lexicon.lexicon import WITHOUT_DOMAIN
from models.lists.feedback import FIRST_PASS, Feedback
from models.lists.ranking_lists import RankingLists
from models.objectives.adversarial import ADVERSARY
from models.objectives.make_objective import make_objective
from models.rankers.fixed_scores import FixedScores
from models.rankers.ranker import Ranker
from models.rankers.scorer import InnerProduct, Scorer
from models.training.channel_weight import CHANNEL, NONE, TOWERS, Candidates, Sum, fit_weight
from models.training.hparams import settings_of, write_hparams
from models.training.inputs import TrainingArguments, TrainingInputs, read_inputs, unfinished_folder
from models.training.list_evaluator import ListEvaluator
from models.training.second_pass import fit_second_pass, own_vectors
from models.training.steps import GRADIENT_NORM, RELEVANCE
from models.training.train import train
from models.training.transformed_texts import TransformedTexts
from models.training.word_projector import write_words
from models.training.workers import Chief
from models.tuning.settings import searched_settings
from schemas.features import DOC_TEXT, QUERY_TEXT
from schemas.training_history import HISTORY_FILE, VECTORS_FILE, Fitted, ScoreCounts, TrainingHistory

log = logging.getLogger("clir.training")

_Weights: TypeAlias = Mapping[str, float]
_Channels: TypeAlias = Mapping[str, Scorer]


class Trained(NamedTuple):
    """The result of a training."""

    ranker: Ranker
    """The ranker, with the best epoch's weights."""
    history: TrainingHistory
    theta: tuple[float, ...]
    """The best epoch's thresholds between the grades; empty for a loss without thresholds."""


def train_ranker(
    inputs: TrainingInputs, strategy: tf.distribute.Strategy, log_dir: str, checkpoint_dir: str
) -> Trained:
    """Trains a new ranker: the scorer, the channels that are trained with it, and the channels that are learned before.

    The objective has the trained channels, and the scores of other channels that are `in_training`. The best epoch is
    that of the whole sum. For weights that are fitted on held-out domains, a ranker is first trained without each
    training domain.

    Args:
      inputs: the job and the data.
      strategy: see `models.training.devices`.
      log_dir, checkpoint_dir: see `models.training.train.train`.

    Raises:
      DataError: see `models.training.train.train`.
    """
    domain_rankers = list(_trained_without_each_domain(inputs, strategy, log_dir, checkpoint_dir))
    return _train(inputs, domain_rankers, strategy, log_dir, checkpoint_dir)


class _DomainRanker(NamedTuple):
    """The channels of a ranker that was trained without a domain, and the domain's eval lists."""

    lists: RankingLists
    channels: _Channels


def _trained_without_each_domain(
    inputs: TrainingInputs, strategy: tf.distribute.Strategy, log_dir: str, checkpoint_dir: str
) -> Iterator[_DomainRanker]:
    """Trains a ranker without each of the domains, if any weight is fitted on held-out domains."""
    if not any(channel.weight == HELD_OUT for channel in inputs.job.channels.values()):
        return
    for number, domain in enumerate(inputs.domains):
        log.info("training without the domain %s, for the weights", domain)
        without = inputs.without(domain)
        folders = (os.path.join(folder, WITHOUT_DOMAIN, str(number)) for folder in (log_dir, checkpoint_dir))
        yield _DomainRanker(without.eval_lists_of(domain), _train(without, [], strategy, *folders).ranker.channels)


def _train(
    inputs: TrainingInputs,
    domain_rankers: Sequence[_DomainRanker],
    strategy: tf.distribute.Strategy,
    log_dir: str,
    checkpoint_dir: str,
) -> Trained:
    """Trains a ranker, and fits the weights that are not fixed by the settings; see `train_ranker`."""
    job = inputs.job
    with strategy.scope():
        trained = _trained_channels(inputs)
        weights = {
            job.towers.channel: 1.0 if job.towers.weight == FITTED else job.towers.weight,
            **{
                name: FIRST_WEIGHT if isinstance(settings.weight, str) else settings.weight
                for name, settings in job.channels.items()
            },
        }
        learned = {name: FixedScores(channel) for name, channel in inputs.channels_in_training.items()}
        held_out = len({*inputs.held_out_texts.domains}) if inputs.held_out_texts else 0
        objective = make_objective(
            _weighted({**trained, **learned}, weights), job, inputs.train_lists.domains, held_out
        )
    channels: dict[str, Scorer] = {**trained, **inputs.fixed_channels}
    evaluated = _weighted(channels, weights) if inputs.fixed_channels else objective.ranker
    evaluator = ListEvaluator(evaluated, inputs.eval_lists, job.top_grade, [job.training.best_metric])
    folders = log_dir, checkpoint_dir
    training, towers_weights = job.training, TOWERS
    if job.channels and job.towers.weight == FITTED and len(inputs.train_lists) < FEW_LISTS:
        log.warning("%d train queries are fewer than %d: the vectors are left out", len(inputs.train_lists), FEW_LISTS)
        training, towers_weights = training.model_copy(update={"epochs": 1}), NONE
    history = train(objective, inputs.train_lists, evaluator, training, *folders, inputs.held_out_texts)
    fitted = {
        f"{name}.{setting}": number for name, channel in channels.items() for setting, number in channel.fitted.items()
    }
    on_eval_split = [_DomainRanker(inputs.eval_lists, channels)]
    for fitted_on, tried in ((FITTED, on_eval_split), (HELD_OUT, domain_rankers)):
        candidates = {name: CHANNEL for name, settings in job.channels.items() if settings.weight == fitted_on}
        if job.channels and job.towers.weight == fitted_on:
            candidates[job.towers.channel] = towers_weights
        for name, weight in _fit_weights(candidates if tried else {}, tried, weights, job.top_grade).items():
            weights[name] = weight.value
            fitted[f"{name}.weight"] = weight
    history = history.model_copy(update={"fitted": fitted})
    ranker = _weighted(channels, weights) if inputs.fixed_channels or job.channels else objective.ranker
    return Trained(ranker, history, tuple(objective.current_theta()))


def train_and_export(arguments: dict[str, Any], strategy: tf.distribute.Strategy) -> None:
    """Trains a ranker on transformed lists and exports it; among several workers only the chief writes.

    Args:
      arguments: `TrainingArguments.as_dict`.
      strategy: see `models.training.devices`.

    Raises:
      DataError: a split has no lists or no known words.
    """
    training_arguments = TrainingArguments(**arguments)
    inputs = read_inputs(training_arguments)
    job = inputs.job
    vectors = {name.removesuffix("_vocabulary"): report for name, report in inputs.vectors.items()}
    for side, report in vectors.items():
        log.info("%s %s", side, report.describe())
    log_dir, model_dir = str(training_arguments.model_run_dir), str(training_arguments.serving_model_dir)
    chief = Chief(strategy)
    devices = f"{strategy.num_replicas_in_sync} replicas in {chief.workers} workers"
    unfinished = unfinished_folder(training_arguments, inputs, devices, removes=chief.is_here)
    if chief.is_here:
        write_hparams(log_dir, settings_of(job))
    ranker, history, theta = train_ranker(inputs, strategy, log_dir, unfinished)
    if not chief.is_here:
        return
    log.info(
        "best epoch %d: eval %s %.4f; %s pairs per second",
        *(history.best_epoch, job.training.best_metric, history.best_value),
        f"{history.pairs_per_second:,.0f}",
    )
    if job.adversary.weight:
        figures = history.best.figures
        log.info(
            "the discriminator in this epoch: accuracy %.3f, share of the largest domain %.3f; norms of the ranker's "
            "gradients: %.2g for the ranking loss, %.2g for the adversary",
            *(figures[f"train/{name}"] for name in ("domain_accuracy", "largest_domain_share")),
            *(figures[f"train/{name}_{GRADIENT_NORM}"] for name in (RELEVANCE, ADVERSARY)),
        )
    feedback, fitted_feedback = fit_feedback(ranker, inputs)
    fitted = {**history.fitted, **fitted_feedback}
    if fitted:
        log.info(
            "fitted on the eval split: %s", ", ".join(f"{name} {number.value:g}" for name, number in fitted.items())
        )
    history = history.model_copy(
        update={
            "fitted": fitted,
            "train_scores": count_train_scores(ranker, inputs),
            "searched": searched_settings(training_arguments.best_numbers),
        }
    )
    relevance = fit_shares(ranker, inputs)
    # The thresholds are on the scale of the towers' part of the score, not of a sum with another channel of vectors.
    weight = ranker.weights_of_channels[job.towers.channel]
    is_only = not any(isinstance(scorer, InnerProduct) for scorer in inputs.fixed_channels.values())
    grades = tuple(weight * value for value in theta) if is_only and weight else ()
    text_features = TransformedTexts(inputs.transform, inputs.job.rules)
    encoder = _exported_encoder(inputs)
    export_ranker(ranker, text_features, model_dir, grades, encoder, relevance, feedback, job.passages)
    write_words(ranker, text_features, inputs.transform, job, log_dir)
    with tf.io.gfile.GFile(os.path.join(log_dir, HISTORY_FILE), "w") as file:
        file.write(history.to_json())
    if vectors:
        with tf.io.gfile.GFile(os.path.join(log_dir, VECTORS_FILE), "w") as file:
            json.dump({side: report.as_dict() for side, report in vectors.items()}, file, indent=2, ensure_ascii=False)
    tf.io.gfile.rmtree(job.checkpoints)


def train_trial(inputs: TrainingInputs, folder: str, strategy: tf.distribute.Strategy) -> float:
    """Trains for a trial of a search.

    Args:
      inputs: the inputs with the trial's numbers.
      folder: the trial's folder.
      strategy: see `models.training.devices`.

    Returns:
      the best value of `best_metric`.

    Raises:
      DataError: see `train_ranker`.
    """
    folders = [os.path.join(folder, name) for name in ("log", "checkpoint")]
    return train_ranker(inputs, strategy, *folders).history.best_value


def read_and_train_trial(trial: Mapping[str, Any], strategy: tf.distribute.Strategy) -> float:
    """Trains for a trial in a worker, which reads the data itself.

    Args:
      trial: `arguments` of `TrainingArguments`, the trial's `numbers`, and its `folder`.
      strategy: of all workers.

    Returns:
      the best value of `best_metric`.
    """
    inputs = read_inputs(TrainingArguments(**trial["arguments"])).with_numbers(trial["numbers"])
    return train_trial(inputs, trial["folder"], strategy)


def count_train_scores(ranker: Ranker, inputs: TrainingInputs) -> ScoreCounts:
    """Counts the trained scorer's scores on the lists of the train split."""
    name = inputs.job.towers.channel
    scorer = Ranker({name: ranker.channels[name]})
    return ListEvaluator(scorer, inputs.train_lists, inputs.job.top_grade).count_scores()


def fit_feedback(ranker: Ranker, inputs: TrainingInputs) -> tuple[Feedback, dict[str, Fitted]]:
    """Fits the numbers of the second pass that are `fitted`, on the lists of the eval split.

    Returns:
      the second pass, and each fitted number by its setting.
    """
    job = inputs.job
    if job.feedback.gain == 0:
        return FIRST_PASS, {}
    scores, texts = ListEvaluator(ranker, inputs.eval_lists, job.top_grade).scores(), inputs.eval_texts()
    (channel,) = ranker.sparse.values()
    vectors = own_vectors(channel, texts.document_columns[DOC_TEXT])
    return fit_second_pass(texts, scores, vectors, job.feedback, job.top_grade)


def fit_shares(ranker: Ranker, inputs: TrainingInputs) -> RelevanceShares | None:
    """Fits the shares of relevant documents by score, and the signs of no good answer, on the lists of the eval split.

    None with too few queries, and with candidates, whose documents are not a random sample of the collection. Uses the
    scores of the first pass, because a second pass depends on the spread of its candidates, which differs between a
    list and a search of the whole collection.
    """
    job, lists = inputs.job, inputs.eval_lists
    if job.documents is None:
        return None
    known_shares = None
    if ranker.is_inner_product and ranker.sparse:
        (channel,) = ranker.sparse.values()
        known_shares = channel.known_share(inputs.eval_texts().query_columns[QUERY_TEXT]).numpy()
    scores = lists.best_passages(ListEvaluator(ranker, lists, job.top_grade).scores())
    whole = lists.whole_documents
    return fit_relevance_shares(scores, whole.grades, whole.drawn, job.documents, job.top_grade, known_shares)


def _exported_encoder(inputs: TrainingInputs) -> ExportedEncoder | None:
    """Returns the model's pre-trained encoder, which becomes part of the model if it is a graph."""
    if inputs.text_vectors is None:
        return None
    record = inputs.text_vectors.record
    if not record.encoder.is_in_graph:
        return ExportedEncoder(record.without_folders(), None)
    check_files(record.encoder)
    encoder = load_encoder(record.encoder)
    return ExportedEncoder(record.without_folders(), encoder if isinstance(encoder, GraphEncoder) else None)


def _trained_channels(inputs: TrainingInputs) -> dict[str, Scorer]:
    """Makes the scorer and the channels that are trained with it, by name."""
    job = inputs.job
    name = job.towers.channel
    channels = {name: job.towers.load().make(inputs.for_scorer(name, job.towers))}
    for channel_name, settings in job.channels.items():
        if channel_name not in inputs.fixed_channels:
            channels[channel_name] = settings.load().make(inputs.for_scorer(channel_name, settings))
    return channels


def _fit_weights(
    candidates: Mapping[str, Candidates],
    tried: Sequence[_DomainRanker],
    first_weights: _Weights,
    top_grade: int,
) -> dict[str, Fitted]:
    """Fits weights of channels in turn, until they no longer change.

    This terminates: a new weight is better than the previous one, or equally good and smaller; the usual weight of a
    channel counts as better by `MIN_GROWTH`.

    Args:
      candidates: the possible weights of each channel.
      tried: lists to fit the weights on, each with the channels of a ranker that does not know them.
      first_weights: the initial weights of all channels.
      top_grade: the MR grade.
    """
    weights, before = dict(first_weights), None
    fitted: dict[str, Fitted] = {}
    while weights != before:
        before = dict(weights)
        for name in candidates:
            sums = []
            for lists, channels in tried:
                remaining = {key: channel for key, channel in channels.items() if key != name}
                # A ranker of a single channel does not weigh it.
                scale = weights[next(iter(remaining))] if len(remaining) == 1 else 1.0
                sums.append(Sum(lists, _weighted(remaining, weights), channels[name], scale))
            fitted[name] = fit_weight(sums, top_grade, candidates[name])
            weights[name] = fitted[name].value
        if len(candidates) < 2:
            break
    return fitted


def _weighted(channels: _Channels, weights: _Weights) -> Ranker:
    """Returns the ranker of channels; a single channel has no weight."""
    if len(channels) == 1:
        return Ranker(channels)
    return Ranker(channels, {name: weights[name] for name in channels})
