"""The compiled specification: it is what Kubeflow's messages, its SDK and the rules of its backend take.

The rules are those of Kubeflow Pipelines' own sources: `backend/src/apiserver/template` (what is accepted),
`backend/src/v2/compiler/argocompiler` (what becomes a workflow), `backend/src/v2/driver` (how inputs are found).
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import json_format
from kfp import compiler, components, dsl
from kfp.pipeline_spec import pipeline_spec_pb2
from tfx.orchestration.kubeflow.v2 import compiler_utils

from pipeline.identity import IDENTITY_FORM
from pipeline.kubeflow.cluster_config import load_cluster_config
from pipeline.kubeflow.compile_pipeline import compile_pipeline
from pipeline.kubeflow.parameters import RUNTIME_PARAMETERS
from pipeline.stages import ALWAYS_RUN, STAGES
from schemas import artifacts
from tests.e2e.process import ROOT

pytestmark = pytest.mark.stages

GPU = "{cpu: 8, memory: 32, accelerator: nvidia.com/gpu, accelerator_count: 2}"
CONFIGS = {
    "sample": ("configs/sample.yaml",),
    "cluster": (
        "configs/sample.yaml",
        f"kubeflow.resources={{Trainer: {GPU}, Transform: {{memory: 16.5}}}}",
        "kubeflow.pipeline_root=gs://bucket/root",
    ),
    "every stage": (
        *("configs/sample_dumps.yaml", "search.index=true", "evaluation.baselines=[bm25, paper, tfidf]"),
        *("tuning.search=grid", "tuning.epsilon=[0.5, 2]", "training.workers=2"),
        "channels.encoder={kind: endpoint, address: http://127.0.0.1:9, query_model: m}",
        "channels.lexicon.translator={kind: endpoint, address: http://127.0.0.1:7}",
        *("data.passages={words: 150}", "kubeflow.volumes={models: /mnt/models}", "output=/mnt/models/en_fr"),
    ),
}

Json = dict[str, Any]


def compile_anew(name: str) -> str:
    file, *overrides = CONFIGS[name]
    config = load_cluster_config(str(ROOT / file), ["kubeflow.image=clir:1", *overrides], lambda line: None)
    return compile_pipeline(config)


compile_text = cache(compile_anew)
"""The specification of a configuration, with its platform's if there is one."""


@cache
def spec_of(name: str) -> Json:
    spec: Json = next(yaml.safe_load_all(compile_text(name)))
    return spec


def tasks_of(spec: Json) -> Json:
    tasks: Json = spec["root"]["dag"]["tasks"]
    return tasks


def container_of(spec: Json, task: str) -> Json:
    container: Json = spec["deploymentSpec"]["executors"][spec["components"][task]["executorLabel"]]["container"]
    return container


@pytest.fixture(params=["sample", "every stage"])
def name(request: pytest.FixtureRequest) -> str:
    """The name of a configuration."""
    return str(request.param)


@pytest.fixture
def spec(name: str) -> Json:
    return spec_of(name)


def test_it_is_strictly_of_kubeflow_s_messages(name: str) -> None:
    spec, *platforms = yaml.safe_load_all(compile_text(name))
    message = json_format.ParseDict(spec, pipeline_spec_pb2.PipelineSpec())
    assert json_format.MessageToDict(message) == spec
    deployment = json_format.ParseDict(spec["deploymentSpec"], pipeline_spec_pb2.PipelineDeploymentConfig())
    assert deployment.executors.keys() == {f"{task}_executor" for task in tasks_of(spec)}
    for platform in platforms:
        json_format.ParseDict(platform, pipeline_spec_pb2.PlatformSpec())


def test_the_sdk_loads_it_compiles_it_to_the_same_and_uses_it_in_another_pipeline(tmp_path: Path) -> None:
    text = compile_text("every stage")
    loaded = components.load_component_from_text(text)
    compiler.Compiler().compile(loaded, str(tmp_path / "again.yaml"))
    again = list(yaml.safe_load_all((tmp_path / "again.yaml").read_text()))
    assert again == list(yaml.safe_load_all(text))

    @dsl.pipeline(name="another")
    def another() -> None:
        loaded(training_epochs=2)

    compiler.Compiler().compile(another, str(tmp_path / "another.yaml"))


def test_the_backend_accepts_it(spec: Json) -> None:
    assert spec["schemaVersion"] == "2.1.0"
    assert re.fullmatch(r"[a-z0-9][-a-z0-9]{0,127}", spec["pipelineInfo"]["name"])
    for parameter in spec["root"]["inputDefinitions"]["parameters"].values():
        assert parameter["parameterType"] in {"NUMBER_INTEGER", "NUMBER_DOUBLE", "STRING", "BOOLEAN"}
        assert "defaultValue" in parameter


def test_every_task_is_a_container_which_no_other_has(spec: Json) -> None:
    containers = {name: container_of(spec, name) for name in tasks_of(spec)}
    assert all(container["image"] == "clir:1" for container in containers.values())
    assert not any("lifecycle" in container for container in containers.values())  # the backend passes it over
    # The backend keeps one component for all that have the same container.
    assert len({json.dumps(container, sort_keys=True) for container in containers.values()}) == len(containers)


def test_every_input_of_a_task_is_there_declared_and_made_before(spec: Json) -> None:
    tasks = tasks_of(spec)
    for name, task in tasks.items():
        component = spec["components"][task["componentRef"]["name"]]
        declared = component["inputDefinitions"]
        inputs = task["inputs"]
        assert inputs["parameters"].keys() == declared["parameters"].keys()
        assert inputs.get("artifacts", {}).keys() == declared.get("artifacts", {}).keys()
        for value in inputs["parameters"].values():
            assert ("runtimeValue" in value) != (value.get("componentInputParameter") in RUNTIME_PARAMETERS)
        for artifact in inputs.get("artifacts", {}).values():
            producer = artifact["taskOutputArtifact"]["producerTask"]
            made = spec["components"][producer]["outputDefinitions"]["artifacts"]
            assert artifact["taskOutputArtifact"]["outputArtifactKey"] in made
            assert producer in task["dependentTasks"], name
        assert set(task.get("dependentTasks", [])) <= tasks.keys() - {name}


def test_every_type_has_a_title_by_which_a_task_finds_its_class(spec: Json) -> None:
    known = {*compiler_utils.TITLE_TO_CLASS_PATH, *(kind.TYPE_NAME for kind in artifacts.TYPES)}
    for component in spec["components"].values():
        for side in ("inputDefinitions", "outputDefinitions"):
            for artifact in component[side].get("artifacts", {}).values():
                assert yaml.safe_load(artifact["artifactType"]["instanceSchema"])["title"] in known


def test_no_value_holds_what_the_backend_would_replace(spec: Json) -> None:
    for task in tasks_of(spec).values():
        for parameter in task["inputs"]["parameters"].values():
            assert "{{" not in str(parameter.get("runtimeValue", {}).get("constant"))


def test_what_is_decided_anew_on_every_run_is_not_cached(spec: Json) -> None:
    cached = {name for name, task in tasks_of(spec).items() if task["cachingOptions"].get("enableCache")}
    assert cached == tasks_of(spec).keys() - {*ALWAYS_RUN}


# The graph, and what of it the configuration says


def test_the_graph_is_the_local_run_s_and_every_stage_can_be_in_it() -> None:
    assert tasks_of(spec_of("every stage")).keys() == {*STAGES}


def test_resources_and_accelerators_stand_with_their_stage_alone_and_in_no_cache_key() -> None:
    plain, spec = spec_of("sample"), spec_of("cluster")
    resources = {task: container_of(spec, task).get("resources") for task in tasks_of(spec)}
    assert {task: values for task, values in resources.items() if values} == {
        "Trainer": {"cpuLimit": 8, "memoryLimit": 32, "accelerator": {"type": "nvidia.com/gpu", "count": "2"}},
        "Transform": {"memoryLimit": 16.5},
    }
    assert (tasks_of(spec), spec["components"]) == (tasks_of(plain), plain["components"])
    assert spec["defaultPipelineRoot"] == "gs://bucket/root"
    assert "defaultPipelineRoot" not in plain


def test_volumes_are_mounted_in_every_stage_and_the_output_lies_there() -> None:
    spec, platform = yaml.safe_load_all(compile_text("every stage"))
    executors = platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    assert executors.keys() == spec["deploymentSpec"]["executors"].keys()
    mount = {"pvcMount": [{"constant": "models", "mountPath": "/mnt/models"}]}
    assert all(executor == mount for executor in executors.values())
    parameters = {task: content["inputs"]["parameters"] for task, content in tasks_of(spec).items()}
    assert parameters["Gate"]["serving"]["runtimeValue"]["constant"] == "/mnt/models/en_fr/serving"
    # The trainings have folders of their own, for they may run at the same time.
    jobs = [
        json.loads(parameters[task]["custom_config"]["runtimeValue"]["constant"])
        for task in ("Trainer", "PaperTrainer")
    ]
    assert [job["checkpoints"] for job in jobs] == [f"/mnt/models/en_fr/checkpoints{end}" for end in ("", ".paper")]


# The cache


def test_the_code_and_the_inputs_reach_kubeflow_s_cache_by_their_content() -> None:
    parameters = {task: content["inputs"]["parameters"] for task, content in tasks_of(spec_of("sample")).items()}
    constants = [values["identity"]["runtimeValue"]["constant"] for values in parameters.values()]
    digests = json.loads(parameters["CollectionGen"]["digests"]["runtimeValue"]["constant"])
    assert digests.keys() == {"queries", "documents", "judgments"}
    assert all(map(IDENTITY_FORM.fullmatch, constants))
    assert all(len(digest) == 64 for digest in digests.values())


def test_a_parameter_of_a_run_is_an_input_of_the_stages_that_use_it_alone() -> None:
    tasks = tasks_of(spec_of("every stage"))
    for name, parameter in RUNTIME_PARAMETERS.items():
        assert {stage for stage in tasks if name in tasks[stage]["inputs"]["parameters"]} == set(parameter.keys)


def test_two_compilations_give_the_same_text() -> None:
    assert compile_anew("sample") == compile_text("sample")
