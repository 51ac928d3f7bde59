"""The Trainer component's contract: TFX's own, with a lexicon."""

from typing import Any

from tfx.components.trainer import component
from tfx.dsl.components.base import executor_spec
from tfx.types import channel

from components.trainer.executor import Executor
from components.trainer.lexicon_inputs import lexicon_inputs


class Trainer(component.Trainer):
    """TFX's Trainer, except that it may have two inputs more, for a second channel of the score.

    Args:
      lexicon: Lexicon of the channel of words that match; None: there is no such channel.
      texts: the Examples that the transformed ones were made of: the channel scores the texts of their eval split.
      **arguments: TFX's.
    """

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self, lexicon: channel.BaseChannel | None = None, texts: channel.BaseChannel | None = None, **arguments: Any
    ) -> None:
        super().__init__(**arguments)
        self.spec.inputs.update(lexicon_inputs(lexicon, texts))
