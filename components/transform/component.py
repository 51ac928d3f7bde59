"""The Transform component: TFX's own, with our executor."""

from tfx.components.transform import component
from tfx.dsl.components.base import executor_spec
from tfx.proto import transform_pb2
from tfx.types import channel

from components.transform.executor import Executor
from components.transform.settings import TransformSettings


class Transform(component.Transform):
    """Makes vocabularies of the train split and ids of the texts, as TFX's does with `preprocessing_fn`.

    Args:
      examples: Examples.
      schema: Schema.
      settings: see there.

    Outputs:
      transform_graph: TransformGraph.
      transformed_examples: Examples with splits train and eval: the test split is scored as texts.
    """

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, schema: channel.BaseChannel, settings: TransformSettings) -> None:
        super().__init__(
            examples=examples,
            schema=schema,
            preprocessing_fn="components.transform.preprocessing.preprocessing_fn",
            custom_config=settings.model_dump(mode="json"),
            splits_config=transform_pb2.SplitsConfig(analyze=["train"], transform=["train", "eval"]),
            # Those after the transformation report two-level lists as anomalies, and double its time.
            disable_statistics=True,
            # Nothing reads what the analyzers found on part of the data.
            disable_analyzer_cache=True,
        )
