"""The configurations of TF Serving: parsed as far as that can be done without its binary, Docker or a cluster."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import tensorflow_serving
import yaml
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format, wrappers_pb2
from kubernetes import client
from tensorflow_serving.config import model_server_config_pb2

from schemas.served_versions import MODEL_NAME

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "serving" / "tf_serving"
FLAGS: Final = {
    "model_config_file": "models.config",
    "monitoring_config_file": "monitoring.config",
    "batching_parameters_file": "batching.config",
}
"""TF Serving's flags that name a configuration."""
SERVICE_KEYS: Final = set(
    "cap_drop command deploy healthcheck image ports profiles read_only restart security_opt volumes".split()
)
"""The used keys of a service in the Compose Specification."""
LATER_FIELDS: Final = {"Deployment.spec.template.spec.securityContext.seccompProfile"}
"""Fields of Kubernetes 1.19 and later; TFX 1.15 brings the classes of 1.16."""

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_MESSAGE, _BOOL = _FIELD.TYPE_MESSAGE, _FIELD.TYPE_BOOL
_INT64: Final = (_MESSAGE, ".google.protobuf.Int64Value")
_MESSAGES: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "BatchingParameters": {
        "max_batch_size": (1, *_INT64),
        "batch_timeout_micros": (2, *_INT64),
        "max_enqueued_batches": (3, *_INT64),
        "num_batch_threads": (4, *_INT64),
        "pad_variable_length_inputs": (7, _BOOL, None),
    },
    "PrometheusConfig": {"enable": (1, _BOOL, None), "path": (2, _FIELD.TYPE_STRING, None)},
    "MonitoringConfig": {"prometheus_config": (1, _MESSAGE, ".tensorflow.serving.PrometheusConfig")},
}
"""The messages that tensorflow-serving-api lacks, transcribed from TF Serving 2.15's `session_bundle_config.proto` and
`monitoring_config.proto`: field to number, type and name of the type."""


def new_message(name: str) -> Any:
    """An empty message of a transcribed type."""
    file = descriptor_pb2.FileDescriptorProto(
        name="transcribed.proto",
        package="tensorflow.serving",
        syntax="proto3",
        dependency=[wrappers_pb2.DESCRIPTOR.name],
    )
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for field, (number, kind, type_name) in fields.items():
            described.field.add(name=field, number=number, type=kind, type_name=type_name, label=_FIELD.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    described = pool.FindMessageTypeByName(f"tensorflow.serving.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(described)()
    return message_factory.MessageFactory(pool).GetPrototype(described)()  # protobuf 3


def parsed(name: str, message: Any) -> Any:
    return text_format.Parse((FOLDER / name).read_text(encoding="utf-8"), message)


def read_yaml(name: str) -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


COMPOSE: Final = read_yaml("compose.yaml")[0]
SERVICES: Final = [*COMPOSE["services"].values()]
MANIFEST: Final = {part["kind"]: part for part in read_yaml("kubernetes.yaml")}
TEMPLATE: Final = MANIFEST["Deployment"]["spec"]["template"]
POD: Final = TEMPLATE["spec"]
CONTAINER: Final = POD["containers"][0]


def test_the_models_are_the_last_two_pushed_versions_under_our_name() -> None:
    (model,) = parsed("models.config", model_server_config_pb2.ModelServerConfig()).model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == (MODEL_NAME, f"/models/{MODEL_NAME}", "tensorflow")
    assert model.model_version_policy.latest.num_versions == 2


def test_batches_are_padded_and_bounded_and_metrics_are_where_the_manifest_says() -> None:
    batching = parsed("batching.config", new_message("BatchingParameters"))
    assert batching.pad_variable_length_inputs
    assert batching.max_batch_size.value == 64
    assert 0 < batching.batch_timeout_micros.value <= 10_000
    assert batching.max_enqueued_batches.value > 0
    prometheus = parsed("monitoring.config", new_message("MonitoringConfig")).prometheus_config
    annotations = TEMPLATE["metadata"]["annotations"]
    assert (prometheus.enable, prometheus.path) == (True, annotations["prometheus.io/path"])
    assert annotations["prometheus.io/port"] == "8501"


def test_the_api_package_still_lacks_the_messages_that_are_transcribed() -> None:
    files = {path.name for path in Path(next(iter(tensorflow_serving.__path__))).rglob("*_pb2.py")}
    assert "model_server_config_pb2.py" in files
    assert not files & {"session_bundle_config_pb2.py", "monitoring_config_pb2.py"}


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


def test_compose_has_only_keys_of_its_specification_and_ports_of_this_machine() -> None:
    assert {key for key in COMPOSE if not key.startswith("x-")} == {"name", "services"}
    for service in SERVICES:
        assert service.keys() <= SERVICE_KEYS
        assert service["healthcheck"].keys() == {"test", "interval", "timeout", "retries", "start_period"}
        assert service["deploy"].keys() == {"resources"}
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
