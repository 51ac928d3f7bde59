"""A configuration for a cluster: what must be there when compiling, what need not, and what is warned of."""

import hashlib

import pytest

from pipeline.kubeflow import cluster_config
from pipeline.kubeflow.cluster_config import load_cluster_config
from schemas.errors import ConfigError

SHA256 = "a5" * 32
IMAGE = "kubeflow.image=clir:1"
VOLUME = "kubeflow.volumes={claim: /mnt/clir-volume}"


def load(config_file, *overrides):
    said = []
    return load_cluster_config(str(config_file), [IMAGE, *overrides], said.append), said


def faults(config_file, *overrides, image=IMAGE):
    with pytest.raises(ConfigError) as error:
        load_cluster_config(str(config_file), [*([image] if image else []), *overrides], lambda line: None)
    return "\n".join(error.value.faults)


def test_local_inputs_are_read_and_each_is_warned_of(config_file):
    config, said = load(config_file)
    content = (config_file.parent / "wiki.queries").read_bytes()
    assert config.data.sha256.queries == hashlib.sha256(content).hexdigest()
    assert [line.split(" is ")[0] for line in said] == [
        f"warning: {key}" for key in ("data.queries", "data.documents", "data.judgments", "output")
    ]


ON_VOLUME = (VOLUME, "data.queries=/mnt/clir-volume/q", "output=/mnt/clir-volume/out")
DIGESTS = (f"data.sha256.queries={SHA256}", f"data.sha256.documents={SHA256}")


def test_an_input_on_a_volume_that_is_not_mounted_here_is_taken_with_its_digest(config_file):
    config, said = load(config_file, *ON_VOLUME, DIGESTS[0])
    assert (config.data.sha256.queries, config.output) == (SHA256, "/mnt/clir-volume/out")
    assert not [line for line in said if "queries" in line or "output" in line]


@pytest.mark.parametrize(
    ("overrides", "key", "shown"),
    [
        (ON_VOLUME, "data.queries", "/mnt/clir-volume/q"),
        ((VOLUME, "data.queries=/mnt/clir-volume/q-*", DIGESTS[0]), "data.queries", "/mnt/clir-volume/q-*"),
        ((VOLUME, "data.queries=/mnt/other/q"), "data.queries", "/mnt/other/q"),
        ((VOLUME, "output=/mnt/clir-volume/out[1]"), "output", "[1]"),
        (("search.index=true", "output=gs://bucket/out"), "search.index", "gs://bucket/out"),
        (("beam.runner=portable", "beam.endpoint=flink:8099", "beam.environment=loopback"), "beam.runner", "portable"),
        (DIGESTS, "data.queries", SHA256),
        (DIGESTS, "data.documents", SHA256),
    ],
)
def test_what_a_cluster_could_not_read_or_run_is_refused(config_file, overrides, key, shown):
    said = faults(config_file, *overrides).splitlines()
    assert [line for line in said if key in line and shown in line]


def test_an_image_must_be_named(config_file):
    assert faults(config_file, image=None).startswith(f"{config_file}: kubeflow.image: ")


def test_an_input_on_google_s_store_whose_digest_is_given_is_not_read(config_file, monkeypatch):
    monkeypatch.setattr(cluster_config, "digest_of", lambda path: {}[path] if path.startswith("gs:") else SHA256)
    config, said = load(config_file, "data.queries=gs://bucket/q", DIGESTS[0])
    assert config.data.sha256.queries == SHA256
    assert not any("queries" in line for line in said)


def test_an_input_on_google_s_store_that_cannot_be_read_is_reported_with_the_reason(config_file, monkeypatch):
    def digest_of(path):
        if path.startswith("gs:"):
            raise RuntimeError("no credentials\nand a trace")
        return SHA256

    monkeypatch.setattr(cluster_config, "digest_of", digest_of)
    assert "q cannot be read when compiling: no credentials. " in faults(config_file, "data.queries=gs://bucket/q")
