"""What a training takes of TFX's arguments, as plain values that another process can be given."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from models.settings import TrainingSettings

TRAINING_KEY: Final = "training"
"""Of the training's settings in `custom_config`."""


@dataclass(frozen=True)
class TrainingArguments:
    """What `read_inputs` and those that follow need; the names are TFX's (see its `FnArgs`)."""

    train_files: list[str]
    eval_files: list[str]
    transform_graph_path: str
    model_run_dir: str | None
    serving_model_dir: str | None
    hyperparameters: dict[str, Any] | None
    custom_config: dict[str, Any]

    @classmethod
    def of(cls, fn_args: Any) -> "TrainingArguments":
        """Takes them from TFX's `FnArgs`, whose import takes seconds that a worker need not spend."""
        return cls(**{name: getattr(fn_args, name) for name in cls.__dataclass_fields__})

    @property
    def training(self) -> TrainingSettings:
        """The settings of the training."""
        return TrainingSettings(**self.custom_config[TRAINING_KEY])

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
