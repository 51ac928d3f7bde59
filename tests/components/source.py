"""A stage that makes an artifact of a folder, so that a stage can be tried in a pipeline of its own."""

import shutil

from tfx.dsl.components.base import base_component, base_executor, executor_spec
from tfx.types import channel, component_spec


class Executor(base_executor.BaseExecutor):
    """Copies the folder."""

    def Do(self, input_dict, output_dict, exec_properties):
        (made,) = output_dict["made"]
        shutil.copytree(exec_properties["folder"], made.uri, dirs_exist_ok=True)
        if exec_properties["split_names"]:
            made.split_names = exec_properties["split_names"]


class Source(base_component.BaseComponent):
    """Makes an artifact of a type, which holds what a folder holds."""

    SPEC_CLASS = component_spec.ComponentSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, artifact_type, folder, split_names=""):
        class Spec(component_spec.ComponentSpec):
            PARAMETERS = {
                "folder": component_spec.ExecutionParameter(type=str),
                "split_names": component_spec.ExecutionParameter(type=str),
            }
            INPUTS = {}
            OUTPUTS = {"made": component_spec.ChannelParameter(type=artifact_type)}

        made = channel.OutputChannel(artifact_type, self, "made")
        super().__init__(Spec(folder=folder, split_names=split_names, made=made))
