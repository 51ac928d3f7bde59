"""The jobs of a run's Trainer and Tuner: the settings that decide a training, and no others, for the cache's keys."""

from typing import Final

from models.adversary_settings import AdversarySettings
from models.choices import FIRST_WEIGHT, HELD_OUT
from models.job import TrainingJob
from models.losses.settings import LossSettings, ThresholdLossSettings
from models.rankers.settings import ScorerSettings, SimilaritySettings
from models.settings import FeedbackSettings, WordTableSource
from pipeline.config import RunConfig
from pipeline.identity import identity
from schemas.features import DOCUMENT_VOCABULARY, QUERY_VOCABULARY

_RUN_FN: Final = "components.trainer.run_fn"
_TUNER_FN: Final = "components.trainer.tuner_fn"


def training_job(config: RunConfig, checkpoints: str) -> TrainingJob:
    """Returns the training of a configuration; settings that a search replaces, or that do not matter, are defaults."""
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
        passages=config.data.passages,
        top_grade=config.data.top_grade,
        towers=towers,
        loss=loss,
        training=config.training,
        channels=config.channels.for_training,
        feedback=config.feedback if config.feedback.gain else FeedbackSettings(),
        word_tables=word_tables(config),
        used_negatives=config.data.used_negatives,
        held_out=config.data.held_out,
        adversary=config.adversary if config.adversary.weight else AdversarySettings(),
        checkpoints=checkpoints,
    )
    return job.model_copy(update={"identity": identity([_RUN_FN, *job.modules()])})


def search_job(config: RunConfig, job: TrainingJob) -> TrainingJob:
    """Returns the job of the search for epsilon and theta before a training."""
    # A trial's value is the best epoch's; weights and the second pass are fitted afterwards.
    channels = {
        name: channel.model_copy(update={"weight": FIRST_WEIGHT} if channel.weight == HELD_OUT else {})
        for name, channel in job.channels.items()
    }
    update = {
        "channels": channels,
        "feedback": FeedbackSettings(),
        "training": config.training.model_copy(update={"epochs": config.tuning.epochs or config.training.epochs}),
        "tuning": config.tuning.model_copy(update={"epochs": None}),
        "identity": identity([_TUNER_FN, "components.trainer.tuner", *job.modules()]),
    }
    return job.model_copy(update=update)


def word_tables(config: RunConfig) -> dict[str, WordTableSource]:
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
