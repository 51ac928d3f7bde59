"""Compiles the pipeline for Kubeflow Pipelines 2: with TFX's compiler, and additions for today's Kubeflow."""

import os
from collections.abc import Iterator
from typing import Any, Final

import yaml
from google.protobuf import json_format
from kfp.pipeline_spec import pipeline_spec_pb2
from tfx.orchestration.kubeflow.v2 import kubeflow_v2_dag_runner

from pipeline.config import RunConfig
from pipeline.kubeflow.parameters import RUNTIME_PARAMETERS
from pipeline.kubeflow.run_stage import PACKAGE
from pipeline.kubeflow.settings import HEADER, KubeflowSettings, Resources
from pipeline.layout import CHECKPOINTS, INDEX, SERVING
from pipeline.pipeline import create_pipeline
from pipeline.stages import ALWAYS_RUN

_COMMAND: Final = ["python", "-m", "pipeline.kubeflow.run_stage"]
_SCHEMA_FILE: Final = "schema_file"
_SCHEMA: Final = "schemas/schema.pbtxt"

Json = dict[str, Any]


def compile_pipeline(config: RunConfig) -> str:
    """The pipeline's specification for Kubeflow Pipelines 2.

    Args:
      config: resolved, with the digests of its inputs, and with an image.

    Returns:
      YAML: a PipelineSpec, and after it a PlatformSpec if volumes are mounted.
    """
    pipeline = create_pipeline(
        config,
        pipeline_root=config.kubeflow.pipeline_root or "",
        serving_path=os.path.join(config.output, SERVING),
        index_path=os.path.join(config.output, INDEX),
        checkpoints_path=os.path.join(config.output, CHECKPOINTS),
        enable_cache=True,
    )
    runner = kubeflow_v2_dag_runner.KubeflowV2DagRunner(
        kubeflow_v2_dag_runner.KubeflowV2DagRunnerConfig(
            default_image=config.kubeflow.image, default_commands=_COMMAND, use_pipeline_spec_2_1=True
        )
    )
    spec: Json = runner.run(pipeline, write_out=False)["pipelineSpec"]
    if config.kubeflow.pipeline_root:
        spec["defaultPipelineRoot"] = config.kubeflow.pipeline_root
    spec["root"].setdefault("inputDefinitions", {})["parameters"] = _parameters(config)
    executors = spec["deploymentSpec"]["executors"]
    for stage, task in spec["root"]["dag"]["tasks"].items():
        component = spec["components"][stage]
        container = executors[component["executorLabel"]]["container"]
        # Kubeflow distinguishes components only by their containers.
        container["args"] = ["--stage", stage, *container["args"]]
        if stage in config.kubeflow.resources:
            container["resources"] = _resources(config.kubeflow.resources[stage])
        values = task["inputs"]["parameters"]
        if _SCHEMA_FILE in values:
            values[_SCHEMA_FILE]["runtimeValue"]["constant"] = PACKAGE + _SCHEMA
        for name, parameter in RUNTIME_PARAMETERS.items():
            if stage in parameter.keys:
                values[name] = {"componentInputParameter": name}
                component["inputDefinitions"]["parameters"][name] = {"parameterType": parameter.type}
        if stage in ALWAYS_RUN:
            task["cachingOptions"] = {}
    # Strict: an unknown field ends the compilation.
    message = json_format.ParseDict(spec, pipeline_spec_pb2.PipelineSpec())
    documents = [json_format.MessageToDict(message), *_platform(config.kubeflow, executors)]
    return _header(config) + yaml.safe_dump_all(documents, sort_keys=True, allow_unicode=True, width=120)


def _parameters(config: RunConfig) -> Json:
    """The definition of every parameter of a run."""
    return {
        name: {
            "parameterType": parameter.type,
            "defaultValue": parameter.default(config),
            "isOptional": True,
            "description": parameter.meaning,
        }
        for name, parameter in RUNTIME_PARAMETERS.items()
    }


def _resources(resources: Resources) -> Json:
    """The resources of a pod, as a ResourceSpec."""
    limits: Json = {"cpuLimit": resources.cpu, "memoryLimit": resources.memory}
    if resources.accelerator:
        limits["accelerator"] = {"type": resources.accelerator, "count": str(resources.accelerator_count or 1)}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _platform(kubeflow: KubeflowSettings, executors: Json) -> Iterator[Json]:
    """The PlatformSpec that mounts every volume in every stage, if there are volumes."""
    mounts = [{"constant": claim, "mountPath": path} for claim, path in kubeflow.volumes.items()]
    if mounts:
        deployment = {"executors": {label: {"pvcMount": mounts} for label in executors}}
        yield {"platforms": {"kubernetes": {"deploymentSpec": deployment}}}


def _header(config: RunConfig) -> str:
    lines = [
        f"Preset {config.preset}, {config.data.query_language} queries, {config.data.document_language} documents.",
        "Parameters of a run, and their defaults:",
        *(
            f"  {name} = {parameter.default(config)}: {parameter.meaning}"
            for name, parameter in RUNTIME_PARAMETERS.items()
        ),
    ]
    return HEADER + "".join(f"# {line}\n" for line in lines)
