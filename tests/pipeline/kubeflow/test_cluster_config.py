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
    assert "the image must hold this file" in said[0]


def test_an_input_on_a_volume_that_is_not_mounted_here_needs_its_digest(config_file):
    elsewhere = (VOLUME, "data.queries=/mnt/clir-volume/q", "output=/mnt/clir-volume/out")
    assert "data.queries: /mnt/clir-volume/q must be read when compiling, or its SHA-256 be given" in faults(
        config_file, *elsewhere
    )
    config, said = load(config_file, *elsewhere, f"data.sha256.queries={SHA256}")
    assert config.data.sha256.queries == SHA256
    assert not [line for line in said if "queries" in line or "output" in line]


def test_a_pattern_on_a_volume_that_is_not_mounted_here_is_refused(config_file):
    said = faults(config_file, VOLUME, "data.queries=/mnt/clir-volume/q-*", f"data.sha256.queries={SHA256}")
    assert "/mnt/clir-volume/q-* must be listed when compiling, for it is a pattern" in said


def test_a_missing_file_beside_the_volumes_is_missing(config_file):
    assert "there is no file /mnt/other/q" in faults(config_file, VOLUME, "data.queries=/mnt/other/q")


def test_an_input_on_google_s_store_whose_digest_is_given_is_not_read(config_file, monkeypatch):
    monkeypatch.setattr(cluster_config, "digest_of", lambda path: {}[path] if path.startswith("gs:") else SHA256)
    remote = "data.queries=gs://bucket/q"
    config, said = load(config_file, remote, f"data.sha256.queries={SHA256}")
    assert config.data.sha256.queries == SHA256
    assert not any("queries" in line for line in said)


def test_an_input_on_google_s_store_that_cannot_be_read_is_reported_with_the_reason(config_file, monkeypatch):
    def digest_of(path):
        if path.startswith("gs:"):
            raise RuntimeError("no credentials\nand a trace")
        return SHA256

    monkeypatch.setattr(cluster_config, "digest_of", digest_of)
    said = faults(config_file, "data.queries=gs://bucket/q")
    assert said.endswith("in sha256 (sha256sum FILE prints it); it cannot be read: no credentials.")


def test_another_digest_than_the_given_one_is_refused_together_with_other_faults(config_file):
    said = faults(config_file, f"data.sha256.queries={SHA256}", f"data.sha256.documents={SHA256}")
    assert said.count(f"must have the SHA-256 {SHA256}; got ") == 2


def test_an_image_must_be_named(config_file):
    said = faults(config_file, image=None)
    assert said.startswith(f"{config_file}: kubeflow.image: must be given, or --image IMAGE: the container image")


def test_an_index_needs_folders_that_can_be_renamed(config_file):
    said = faults(config_file, "search.index=true", "output=gs://bucket/out")
    assert "search.index: must be false where output lies on gs://" in said
    assert "got output gs://bucket/out" in said


def test_beam_runs_within_a_stage_s_pod(config_file):
    portable = ("beam.runner=portable", "beam.endpoint=flink:8099", "beam.environment=loopback")
    assert "beam.runner: must be in_process in a cluster" in faults(config_file, *portable)


def test_the_output_is_not_tried_on_this_machine(config_file):
    config, _ = load(config_file, VOLUME, "output=/mnt/clir-volume/out")
    assert config.output == "/mnt/clir-volume/out"
    assert "must hold none of [ ] * ?" in faults(config_file, VOLUME, "output=/mnt/clir-volume/out[1]")
