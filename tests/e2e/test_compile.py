"""The compiled specification: it is what Kubeflow's messages, its SDK and the rules of its backend take.

The rules are those of Kubeflow Pipelines' own sources: `backend/src/apiserver/template` (what is accepted),
`backend/src/v2/compiler/argocompiler` (what becomes a workflow), `backend/src/v2/driver` (how inputs are found).
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import json_format

from pipeline import identity
from pipeline.kubeflow.cluster_config import load_cluster_config
from pipeline.kubeflow.parameters import RUNTIME_PARAMETERS
from pipeline.stages import ALWAYS_RUN, STAGES
from tests.e2e.process import ROOT
from tests.e2e.test_cache import ENDPOINT, copy_code

pytestmark = pytest.mark.runs

SAMPLE = "configs/sample.yaml"
VOLUME = ("kubeflow.volumes={models: /mnt/models}", "output=/mnt/models/en_fr")
EVERY_STAGE = (
    "search.index=true",
    "evaluation.baselines=[bm25, paper, tfidf]",
    "tuning.search=grid",
    "tuning.epsilon=[0.5, 2]",
    *ENDPOINT,
)
CONFIGS: dict[str, tuple[str, ...]] = {
    "sample": (SAMPLE,),
    "default preset": (SAMPLE, "preset=best", "training.epochs=null"),
    "two replicas": (SAMPLE, "training.replicas=2"),
    "two workers": (SAMPLE, "training.workers=2"),
    "tuning": ("configs/sample_tuning.yaml",),
    "paper": (SAMPLE, "preset=paper", "evaluation.baselines=[paper]"),
    "every stage": ("configs/sample_dumps.yaml", *EVERY_STAGE, *VOLUME),
}

Json = dict[str, Any]


def compile_text(config: str, *overrides: str) -> str:
    from pipeline.kubeflow.compile_pipeline import compile_pipeline  # so that quick tests collect this without TFX

    settings = load_cluster_config(str(ROOT / config), ["kubeflow.image=clir:1", *overrides], lambda line: None)
    return compile_pipeline(settings)


def compile_spec(*config: str) -> Json:
    spec: Json = next(yaml.safe_load_all(compile_text(*config)))
    return spec


def tasks_of(spec: Json) -> Json:
    tasks: Json = spec["root"]["dag"]["tasks"]
    return tasks


def container_of(spec: Json, task: str) -> Json:
    container: Json = spec["deploymentSpec"]["executors"][spec["components"][task]["executorLabel"]]["container"]
    return container


@pytest.fixture(scope="module", params=CONFIGS)
def text(request: pytest.FixtureRequest) -> str:
    """The specification of each configuration."""
    return compile_text(*CONFIGS[request.param])


@pytest.fixture(scope="module")
def spec(text: str) -> Json:
    content: Json = next(yaml.safe_load_all(text))
    return content


def test_it_is_strictly_of_kubeflow_s_messages(text: str) -> None:
    from kfp.pipeline_spec import pipeline_spec_pb2

    spec, *platforms = yaml.safe_load_all(text)
    message = json_format.ParseDict(spec, pipeline_spec_pb2.PipelineSpec())
    assert json_format.MessageToDict(message) == spec
    deployment = json_format.ParseDict(spec["deploymentSpec"], pipeline_spec_pb2.PipelineDeploymentConfig())
    assert deployment.executors.keys() == {f"{name}_executor" for name in tasks_of(spec)}
    for platform in platforms:
        json_format.ParseDict(platform, pipeline_spec_pb2.PlatformSpec())


def test_the_sdk_loads_it_compiles_it_to_the_same_and_uses_it_in_another_pipeline(text: str, tmp_path: Path) -> None:
    from kfp import compiler, components, dsl

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
        for one in inputs["parameters"].values():
            assert ("runtimeValue" in one) != (one.get("componentInputParameter") in RUNTIME_PARAMETERS)
        for one in inputs.get("artifacts", {}).values():
            producer = one["taskOutputArtifact"]["producerTask"]
            made = spec["components"][producer]["outputDefinitions"]["artifacts"]
            assert one["taskOutputArtifact"]["outputArtifactKey"] in made
            assert producer in task["dependentTasks"], name
        assert set(task.get("dependentTasks", [])) <= tasks.keys() - {name}


def test_every_type_has_a_title_by_which_a_task_finds_its_class(spec: Json) -> None:
    from tfx.orchestration.kubeflow.v2 import compiler_utils

    from schemas import artifacts

    known = {*compiler_utils.TITLE_TO_CLASS_PATH, *(kind.TYPE_NAME for kind in artifacts.TYPES)}
    for component in spec["components"].values():
        for side in ("inputDefinitions", "outputDefinitions"):
            for one in component[side].get("artifacts", {}).values():
                assert yaml.safe_load(one["artifactType"]["instanceSchema"])["title"] in known


def test_no_value_holds_what_the_backend_would_replace(spec: Json) -> None:
    for task in tasks_of(spec).values():
        for one in task["inputs"]["parameters"].values():
            assert "{{" not in str(one.get("runtimeValue", {}).get("constant"))


def test_what_is_decided_anew_on_every_run_is_not_cached(spec: Json) -> None:
    cached = {name for name, task in tasks_of(spec).items() if task["cachingOptions"].get("enableCache")}
    assert cached == tasks_of(spec).keys() - {*ALWAYS_RUN}


# The graph, and what of it the configuration says


def test_the_graph_is_the_local_run_s_and_every_stage_can_be_in_it() -> None:
    assert tasks_of(compile_spec(*CONFIGS["every stage"])).keys() == {*STAGES}


def test_a_configuration_without_kubeflow_s_settings_and_one_with_them_have_the_same_cache_keys() -> None:
    settings = ("kubeflow.resources={Trainer: {cpu: 8, memory: 32}}", "kubeflow.pipeline_root=gs://bucket/root")
    one, other = compile_spec(SAMPLE), compile_spec(SAMPLE, *settings)
    assert tasks_of(one) == tasks_of(other)
    assert one["components"] == other["components"]


def test_resources_and_accelerators_stand_with_their_stage_alone() -> None:
    gpu = "{cpu: 8, memory: 32, accelerator: nvidia.com/gpu, accelerator_count: 2}"
    spec = compile_spec(SAMPLE, f"kubeflow.resources={{Trainer: {gpu}, Transform: {{memory: 16.5}}}}")
    found = {name: container_of(spec, name).get("resources") for name in tasks_of(spec)}
    assert {name: one for name, one in found.items() if one} == {
        "Trainer": {"cpuLimit": 8, "memoryLimit": 32, "accelerator": {"type": "nvidia.com/gpu", "count": "2"}},
        "Transform": {"memoryLimit": 16.5},
    }


def test_volumes_are_mounted_in_every_stage_and_the_output_lies_there() -> None:
    spec, platform = yaml.safe_load_all(compile_text(SAMPLE, *VOLUME))
    executors = platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    assert executors.keys() == spec["deploymentSpec"]["executors"].keys()
    assert all(one == {"pvcMount": [{"constant": "models", "mountPath": "/mnt/models"}]} for one in executors.values())
    gate = tasks_of(spec)["Gate"]["inputs"]["parameters"]
    assert gate["serving"]["runtimeValue"]["constant"] == "/mnt/models/en_fr/serving"


def test_the_pipeline_root_is_the_specification_s_default() -> None:
    assert compile_spec(SAMPLE, "kubeflow.pipeline_root=gs://bucket/root")["defaultPipelineRoot"] == "gs://bucket/root"
    assert "defaultPipelineRoot" not in compile_spec(SAMPLE)


def test_the_trainings_have_folders_of_their_own_for_they_may_run_at_the_same_time() -> None:
    tasks = tasks_of(compile_spec(*CONFIGS["every stage"]))
    folders = [
        json.loads(tasks[name]["inputs"]["parameters"]["custom_config"]["runtimeValue"]["constant"])["checkpoints"]
        for name in ("Trainer", "PaperTrainer")
    ]
    assert folders == ["/mnt/models/en_fr/checkpoints", "/mnt/models/en_fr/checkpoints.paper"]


# The cache


def test_code_reaches_kubeflow_s_cache_where_it_is_used_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tasks_of(compile_spec(SAMPLE))
    copy_code(tmp_path)
    edited = tmp_path / "components" / "evaluator" / "evaluate.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    monkeypatch.setattr(identity, "_ROOT", tmp_path)
    after = tasks_of(compile_spec(SAMPLE))
    assert {name for name in before if before[name] != after[name]} == {"Evaluator"}


def test_the_inputs_reach_kubeflow_s_cache_by_their_content() -> None:
    digests = tasks_of(compile_spec(SAMPLE))["CollectionGen"]["inputs"]["parameters"]["digests"]["runtimeValue"]
    assert all(len(digest) == 64 for digest in json.loads(digests["constant"]).values())
    assert json.loads(digests["constant"]).keys() == {"queries", "documents", "judgments"}


def test_a_parameter_of_a_run_is_an_input_of_the_stages_that_use_it_alone() -> None:
    tasks = tasks_of(compile_spec(*CONFIGS["every stage"]))
    for name, parameter in RUNTIME_PARAMETERS.items():
        assert {stage for stage in tasks if name in tasks[stage]["inputs"]["parameters"]} == set(parameter.places)


def test_two_compilations_give_the_same_text() -> None:
    assert compile_text(SAMPLE) == compile_text(SAMPLE)
