"""The settings and the data of a training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import tensorflow_transform as tft

from components.trainer.pretrained import Pretrained
from models.lexicon.settings import ChannelWeightSetting
from models.lists.ranking_lists import RankingLists
from models.rankers.scorer import SparseInnerProduct
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.tuning.settings import searched_settings


@dataclass(frozen=True)
class TrainingInputs:
    """The settings and the data of a training.

    Attributes:
      model, loss, training: the sections of the settings.
      top_grade: the MR grade.
      transform: Transform's graph and vocabularies.
      train_lists, eval_lists: lists of the two splits.
      pretrained: the pre-trained vectors of each vocabulary that has some.
      channel: of the words that match, if there is one; the eval lists have its scores.
      channel_weight: its weight, or how it is found.
    """

    model: ModelSettings
    loss: LossSettings
    training: TrainingSettings
    top_grade: int
    transform: tft.TFTransformOutput
    train_lists: RankingLists
    eval_lists: RankingLists
    pretrained: Mapping[str, Pretrained]
    channel: SparseInnerProduct | None
    channel_weight: ChannelWeightSetting

    def with_numbers(self, numbers: Mapping[str, float]) -> "TrainingInputs":
        """The same with the numbers of a search's trial (see `TuningSettings.spaces`) in the settings."""
        found = searched_settings(numbers)
        return replace(
            self,
            model=self.model.model_copy(update={"epsilon": found.get("model.epsilon", self.model.epsilon)}),
            loss=self.loss.model_copy(update={"theta": found.get("loss.theta", self.loss.theta)}),
        )
