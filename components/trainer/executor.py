"""The executor of Trainer: TFX's own, which hands on the lexicon."""

from typing import Any

from tfx import types
from tfx.components.trainer import executor

from schemas.lexicon_inputs import with_lexicon


class Executor(executor.GenericExecutor):
    """Trains with `components.trainer.run_fn`."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Trains, see `run_fn`."""
        super().Do(input_dict, output_dict, with_lexicon(input_dict, exec_properties))
