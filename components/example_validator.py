"""The stage ExampleValidator: TFX's, made strict, because TFX only records anomalies and trains on."""

import os
from typing import Any

from tensorflow_metadata.proto.v0 import anomalies_pb2
from tfx import types
from tfx.components.example_validator import component, executor
from tfx.dsl.components.base import executor_spec
from tfx.proto.orchestration import execution_result_pb2
from tfx.types import artifact_utils, standard_component_specs

from schemas import file_system
from schemas.errors import DataError


class Executor(executor.Executor):
    """Validates statistics against the schema and refuses data with an anomaly."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> execution_result_pb2.ExecutorOutput:
        """Runs TFX's validation.

        Raises:
          DataError: a split has an anomaly; the message describes every anomaly.
        """
        output = super().Do(input_dict, output_dict, exec_properties)
        anomalies = output_dict[standard_component_specs.ANOMALIES_KEY]
        faults = []
        for split in artifact_utils.decode_split_names(artifact_utils.get_single_instance(anomalies).split_names):
            path = os.path.join(artifact_utils.get_split_uri(anomalies, split), executor.DEFAULT_FILE_NAME)
            with file_system.open_file(path, "rb") as file:
                split_anomalies = anomalies_pb2.Anomalies.FromString(file.read())
            for feature, anomaly in sorted(split_anomalies.anomaly_info.items()):
                faults.append(f"split {split}, feature {feature}: {anomaly.description}")
            if split_anomalies.data_missing:
                faults.append(f"split {split}: no examples")
            if split_anomalies.HasField("dataset_anomaly_info"):
                faults.append(f"split {split}: {split_anomalies.dataset_anomaly_info.description}")
        if faults:
            raise DataError("\n".join(["the examples must fit schemas/schema.pbtxt, but:", *faults]))
        return output


class ExampleValidator(component.ExampleValidator):
    """TFX's ExampleValidator, except that an anomaly stops the run and is described."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)
