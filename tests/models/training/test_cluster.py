"""The workers that TF_CONFIG names."""

import json
import socket

import pytest

from models.training.workers import Cluster
from schemas.errors import ConfigError

pytestmark = pytest.mark.tensors


def tf_config(cluster, kind, index):
    return json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})


@pytest.mark.parametrize(
    ("cluster", "kind", "index", "number"),
    [
        ({"worker": ["a:1", "b:1"]}, "worker", 0, 0),
        ({"worker": ["a:1", "b:1"]}, "worker", 1, 1),
        ({"worker": ["b:1"], "chief": ["a:1"]}, "chief", 0, 0),
        ({"worker": ["b:1"], "chief": ["a:1"]}, "worker", 0, 1),
    ],
)
def test_the_chief_is_the_first_and_the_others_follow(cluster, kind, index, number):
    view = Cluster.parse(tf_config(cluster, kind, index))
    assert (view.workers, view.number) == (2, number)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", r"TF_CONFIG .* got \{"),
        pytest.param("[" * 200_000, r"TF_CONFIG .* got \[{200}…\.", id="deep"),
        ('{"cluster": {"worker": ["a:1"]}}', "TF_CONFIG"),
        (tf_config({"worker": ["a:1"], "ps": ["b:1"]}, "worker", 0), "got ps"),
        (tf_config({"worker": ["a:1"]}, "worker", 1), "got worker 1"),
    ],
)
def test_what_names_no_cluster_of_workers_is_refused(text, fault):
    with pytest.raises(ConfigError, match=fault):
        Cluster.parse(text)


def test_workers_on_loopback_have_one_view_of_ports_that_are_free():
    views = Cluster.on_loopback(3)
    assert [(view.workers, view.number) for view in views] == [(3, 0), (3, 1), (3, 2)]
    (addresses,) = {tuple(json.loads(view.tf_config)["cluster"]["worker"]) for view in views}
    assert len({*addresses}) == 3
    for address in addresses:
        host, _, port = address.partition(":")
        with socket.socket() as listener:
            listener.bind((host, int(port)))
