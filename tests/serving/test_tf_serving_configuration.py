"""The configurations of TF Serving: parsed as far as that can be done without its binary, Docker or a cluster."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from google.protobuf import text_format
from kubernetes import client
from tensorflow_serving.config import model_server_config_pb2

from schemas.served_versions import MODEL_NAME

pytestmark = pytest.mark.tensors  # the package of protocols imports TensorFlow

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "smooth_clir" / "serving" / "tf_serving"
FLAGS: Final = {
    "model_config_file": "models.config",
    "monitoring_config_file": "monitoring.config",
    "batching_parameters_file": "batching.config",
}
"""TF Serving's flags that name a configuration."""
LATER_FIELDS: Final = {"Deployment.spec.template.spec.securityContext.seccompProfile"}
"""Fields of Kubernetes 1.19 and later; TFX 1.15 brings the classes of 1.16."""

SCALARS: Final = {
    "batching.config": {
        "max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads",
        "pad_variable_length_inputs",
    },
    "monitoring.config": {"prometheus_config", "enable", "path"},
}  # fmt: skip
"""Fields of the messages that tensorflow-serving-api lacks: those of TF Serving 2.15's `session_bundle_config.proto`
and `monitoring_config.proto`."""


def scalars(name: str) -> dict[str, str]:
    """The scalars of a configuration by their fields; a wrapped number is its wrapper's."""
    text = re.sub("#.*", "", (FOLDER / name).read_text(encoding="utf-8"))
    values = dict(re.findall(r"(\w+)\s*(?::|\{\s*value:)\s*([^\s}]+)", text))
    assert {*re.findall(r"(\w+)\s*[:{]", text)} - {"value"} <= SCALARS[name]
    assert text.count("{") == text.count("}")
    return values


def read_yaml(name: str) -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


COMPOSE: Final = read_yaml("compose.yaml")[0]
SERVICES: Final = [*COMPOSE["services"].values()]
MANIFEST: Final = {part["kind"]: part for part in read_yaml("kubernetes.yaml")}
TEMPLATE: Final = MANIFEST["Deployment"]["spec"]["template"]
POD: Final = TEMPLATE["spec"]
CONTAINER: Final = POD["containers"][0]


def test_the_models_are_the_last_two_pushed_versions_under_our_name() -> None:
    text = (FOLDER / "models.config").read_text(encoding="utf-8")
    (model,) = text_format.Parse(text, model_server_config_pb2.ModelServerConfig()).model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == (MODEL_NAME, f"/models/{MODEL_NAME}", "tensorflow")
    assert model.model_version_policy.latest.num_versions == 2


def test_batches_are_padded_and_bounded_and_metrics_are_where_the_manifest_says() -> None:
    batching = scalars("batching.config")
    assert (batching["pad_variable_length_inputs"], batching["max_batch_size"]) == ("true", "64")
    assert 0 < int(batching["batch_timeout_micros"]) <= 10_000
    assert int(batching["max_enqueued_batches"]) > 0
    prometheus, annotations = scalars("monitoring.config"), TEMPLATE["metadata"]["annotations"]
    assert prometheus == {"enable": "true", "path": f'"{annotations["prometheus.io/path"]}"'}
    assert annotations["prometheus.io/port"] == "8501"


def test_the_image_is_pinned_to_the_newer_stacks_tensorflow() -> None:
    _, version = re.findall('"tensorflow==([^";]+);', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    images = {CONTAINER["image"], *(service["image"] for service in SERVICES)}
    assert images == {f"tensorflow/serving:{version}"}


def test_every_flag_names_a_configuration_that_is_mounted() -> None:
    (customization,) = read_yaml("kustomization.yaml")
    (generated,) = customization["configMapGenerator"]
    assert (customization["resources"], generated["name"]) == (
        ["kubernetes.yaml"],
        POD["volumes"][1]["configMap"]["name"],
    )
    for command in [CONTAINER["args"], *(service["command"] for service in SERVICES)]:
        flags = dict(flag.removeprefix("--").split("=") for flag in command)
        assert flags.pop("enable_batching", "false") == ("true" if "batching_parameters_file" in flags else "false")
        assert flags == {flag: f"/config/{name}" for flag, name in FLAGS.items() if flag in flags}
    for service in SERVICES:
        mounted = {volume.split(":")[-2]: volume.rpartition(":")[2] for volume in service["volumes"]}
        assert mounted == dict.fromkeys(["/models/clir", *(f"/config/{name}" for name in FLAGS.values())], "ro")
    assert sorted(generated["files"]) == sorted(FLAGS.values())
    assert all((FOLDER / name).is_file() for name in generated["files"])


def test_compose_has_ports_of_this_machine_alone() -> None:
    ports = [port for service in SERVICES for port in service["ports"]]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


@pytest.mark.parametrize(("kind", "model"), [("Deployment", client.V1Deployment), ("Service", client.V1Service)])
def test_the_manifest_has_only_fields_that_kubernetes_knows(kind: str, model: Any) -> None:
    assert {*unknown_fields(MANIFEST[kind], model.__name__, kind)} <= LATER_FIELDS
    broken = {**MANIFEST[kind], "spec": {**MANIFEST[kind]["spec"], "selectors": {}}}
    assert f"{kind}.spec.selectors" in unknown_fields(broken, model.__name__, kind)


def unknown_fields(content: Any, kind: str, path: str) -> Iterator[str]:
    """Fields of a manifest that the classes of Kubernetes' API lack."""
    if kind.startswith("list["):
        for number, item in enumerate(content):
            yield from unknown_fields(item, kind[5:-1], f"{path}[{number}]")
    elif hasattr(client, kind):
        model = getattr(client, kind)
        types = {model.attribute_map[name]: model.openapi_types[name] for name in model.attribute_map}
        for name, value in content.items():
            if name in types:
                yield from unknown_fields(value, types[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif kind in ("str", "int", "bool") and not isinstance(content, {"str": str, "int": int, "bool": bool}[kind]):
        yield f"{path} is no {kind}"


def test_the_pod_reads_models_and_changes_nothing_and_is_asked_at_its_ports() -> None:
    assert all(mount["readOnly"] for mount in CONTAINER["volumeMounts"])
    assert POD["volumes"][0]["persistentVolumeClaim"]["readOnly"]
    assert POD["securityContext"]["runAsNonRoot"] and CONTAINER["securityContext"]["readOnlyRootFilesystem"]
    assert CONTAINER["resources"]["limits"].keys() == {"memory"}
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert ports == {"grpc": 8500, "rest": 8501}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert CONTAINER[probe]["httpGet"] == {"path": f"/v1/models/{MODEL_NAME}", "port": "rest"}
    service, labels = MANIFEST["Service"]["spec"], TEMPLATE["metadata"]["labels"]
    assert {port["targetPort"] for port in service["ports"]} == ports.keys()
    assert service["selector"] == labels == MANIFEST["Deployment"]["spec"]["selector"]["matchLabels"]
