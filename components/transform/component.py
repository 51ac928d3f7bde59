"""The Transform component: TFX's own, with our executor."""

from tfx.components.transform import component
from tfx.dsl.components.base import executor_spec

from components.transform.executor import Executor


class Transform(component.Transform):
    """Makes vocabularies of the train split and ids of texts; arguments and outputs are those of TFX's."""

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)
