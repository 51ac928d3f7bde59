"""The configurations of TF Serving: parsed as far as that can be done without its binary, Docker or a cluster."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format, wrappers_pb2
from kubernetes import client
from tensorflow_serving.config import model_server_config_pb2

from schemas.served_versions import MODEL_NAME

pytestmark = pytest.mark.tensors

FOLDER = Path(__file__).parents[2] / "serving" / "tf_serving"
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
FLAGS = {
    "model_config_file": "models.config",
    "monitoring_config_file": "monitoring.config",
    "batching_parameters_file": "batching.config",
}
"""TF Serving's flags that name a configuration."""
SERVICE_KEYS = {
    "cap_drop", "command", "deploy", "healthcheck", "image", "ports", "profiles", "read_only", "restart",
    "security_opt", "volumes",
}  # fmt: skip
"""The used keys of a service in the Compose Specification."""

LATER_FIELDS = {"Deployment.spec.template.spec.securityContext.seccompProfile"}
"""Fields of Kubernetes 1.19 and later; TFX 1.15 brings the classes of 1.16."""

_FIELD = descriptor_pb2.FieldDescriptorProto
_INT64 = (_FIELD.TYPE_MESSAGE, ".google.protobuf.Int64Value", False)

_MESSAGES: Final = {
    "BatchingParameters": {
        "max_batch_size": (1, *_INT64),
        "batch_timeout_micros": (2, *_INT64),
        "max_enqueued_batches": (3, *_INT64),
        "num_batch_threads": (4, *_INT64),
        "thread_pool_name": (5, _FIELD.TYPE_MESSAGE, ".google.protobuf.StringValue", False),
        "allowed_batch_sizes": (6, _FIELD.TYPE_INT64, None, True),
        "pad_variable_length_inputs": (7, _FIELD.TYPE_BOOL, None, False),
    },
    "PrometheusConfig": {
        "enable": (1, _FIELD.TYPE_BOOL, None, False),
        "path": (2, _FIELD.TYPE_STRING, None, False),
    },
    "MonitoringConfig": {
        "prometheus_config": (1, _FIELD.TYPE_MESSAGE, ".tensorflow.serving.PrometheusConfig", False),
    },
}
"""The messages that tensorflow-serving-api lacks, transcribed from TF Serving 2.15's `session_bundle_config.proto` and
`monitoring_config.proto`: field to number, type, name of the type, and whether it is repeated."""


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
        for field, (number, kind, type_name, is_repeated) in fields.items():
            label = _FIELD.LABEL_REPEATED if is_repeated else _FIELD.LABEL_OPTIONAL
            described.field.add(name=field, number=number, type=kind, type_name=type_name, label=label)
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


@pytest.fixture
def compose() -> Any:
    (content,) = read_yaml("compose.yaml")
    return content


@pytest.fixture
def manifest() -> dict[str, Any]:
    return {one["kind"]: one for one in read_yaml("kubernetes.yaml")}


# TF Serving's own


def test_the_models_are_the_pushed_versions_under_our_name_and_the_last_two_of_them() -> None:
    (model,) = parsed("models.config", model_server_config_pb2.ModelServerConfig()).model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == (MODEL_NAME, f"/models/{MODEL_NAME}", "tensorflow")
    assert model.model_version_policy.latest.num_versions == 2


def test_batches_are_padded_and_bounded() -> None:
    batching = parsed("batching.config", new_message("BatchingParameters"))
    assert batching.pad_variable_length_inputs
    assert batching.max_batch_size.value == 64
    assert 0 < batching.batch_timeout_micros.value <= 10_000
    assert batching.max_enqueued_batches.value > 0


def test_prometheus_is_reported_the_metrics_where_the_manifest_says(manifest: dict[str, Any]) -> None:
    prometheus = parsed("monitoring.config", new_message("MonitoringConfig")).prometheus_config
    annotations = manifest["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert prometheus.enable
    assert annotations["prometheus.io/path"] == prometheus.path
    assert annotations["prometheus.io/port"] == "8501"


def test_the_api_package_still_lacks_the_messages_that_are_transcribed() -> None:
    import tensorflow_serving

    files = {path.name for path in Path(next(iter(tensorflow_serving.__path__))).rglob("*_pb2.py")}
    assert "model_server_config_pb2.py" in files
    assert not files & {"session_bundle_config_pb2.py", "monitoring_config_pb2.py"}


# What starts it


def test_the_image_is_pinned_to_the_newer_stacks_tensorflow(compose: Any, manifest: dict[str, Any]) -> None:
    _, version = re.findall('"tensorflow==([^";]+);', PYPROJECT.read_text(encoding="utf-8"))
    (container,) = manifest["Deployment"]["spec"]["template"]["spec"]["containers"]
    images = {container["image"], *(service["image"] for service in compose["services"].values())}
    assert images == {f"tensorflow/serving:{version}"}


def test_every_flag_names_a_configuration_that_is_mounted(compose: Any, manifest: dict[str, Any]) -> None:
    pod = manifest["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (customization,) = read_yaml("kustomization.yaml")
    (generated,) = customization["configMapGenerator"]
    assert (customization["resources"], generated["name"]) == (
        ["kubernetes.yaml"],
        pod["volumes"][1]["configMap"]["name"],
    )
    commands = [container["args"], *(service["command"] for service in compose["services"].values())]
    for command in commands:
        flags = dict(flag.removeprefix("--").split("=") for flag in command)
        assert flags.pop("enable_batching", "false") == ("true" if "batching_parameters_file" in flags else "false")
        assert flags == {flag: f"/config/{name}" for flag, name in FLAGS.items() if flag in flags}
    for service in compose["services"].values():
        mounted = {one.split(":")[-2]: one.rpartition(":")[2] for one in service["volumes"]}
        assert mounted == dict.fromkeys(["/models/clir", *(f"/config/{name}" for name in FLAGS.values())], "ro")
    assert sorted(generated["files"]) == sorted(FLAGS.values())
    assert all((FOLDER / name).is_file() for name in generated["files"])


def test_compose_has_only_keys_of_its_specification_and_ports_of_this_machine(compose: Any) -> None:
    assert {key for key in compose if not key.startswith("x-")} == {"name", "services"}
    for service in compose["services"].values():
        assert service.keys() <= SERVICE_KEYS
        assert service["healthcheck"].keys() == {"test", "interval", "timeout", "retries", "start_period"}
        assert service["deploy"].keys() == {"resources"}
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    ports = [port for service in compose["services"].values() for port in service["ports"]]
    assert len({port.split(":")[1] for port in ports}) == len(ports)


@pytest.mark.parametrize(("kind", "model"), [("Deployment", client.V1Deployment), ("Service", client.V1Service)])
def test_the_manifest_has_only_fields_that_kubernetes_knows(manifest: dict[str, Any], kind: str, model: Any) -> None:
    assert {*unknown_fields(manifest[kind], model.__name__, kind)} <= LATER_FIELDS
    broken = {**manifest[kind], "spec": {**manifest[kind]["spec"], "selectors": {}}}
    assert f"{kind}.spec.selectors" in unknown_fields(broken, model.__name__, kind)


def unknown_fields(content: Any, kind: str, path: str) -> Any:
    """Fields of a manifest that the classes of Kubernetes' API lack."""
    if kind.startswith("list["):
        for number, one in enumerate(content):
            yield from unknown_fields(one, kind[5:-1], f"{path}[{number}]")
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


def test_the_pod_reads_models_and_changes_nothing(manifest: dict[str, Any]) -> None:
    pod = manifest["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert all(mount["readOnly"] for mount in container["volumeMounts"])
    assert pod["volumes"][0]["persistentVolumeClaim"]["readOnly"]
    assert pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    assert container["resources"]["limits"].keys() == {"memory"}


def test_probes_and_service_name_ports_of_the_container(manifest: dict[str, Any]) -> None:
    (container,) = manifest["Deployment"]["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"grpc": 8500, "rest": 8501}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": f"/v1/models/{MODEL_NAME}", "port": "rest"}
    assert {port["targetPort"] for port in manifest["Service"]["spec"]["ports"]} == ports.keys()
    labels = manifest["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert (
        manifest["Service"]["spec"]["selector"] == labels == manifest["Deployment"]["spec"]["selector"]["matchLabels"]
    )
