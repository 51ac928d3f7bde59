"""What every test shares: a quiet TensorFlow with two CPU devices, and a Hypothesis that draws the same each time."""

import os

# Before anything imports TensorFlow.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402
from hypothesis import settings  # noqa: E402

from tests.cli.command import Clir  # noqa: E402

# For tests with two replicas; TensorFlow allows it only before its first op.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

settings.register_profile("clir", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("clir")


@pytest.fixture(scope="session")
def two_replicas() -> tf.distribute.Strategy:
    """A strategy that mirrors its variables on two devices; a second one's collective ops would clash with its."""
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


CONFIG = """\
data:
  queries: wiki.queries
  documents: wiki.documents
  judgments: en2fr.rel
  query_language: en
  document_language: fr
output: out
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """A configuration of seven lines beside its files: one query, judged for two documents."""
    (tmp_path / "wiki.queries").write_text("q1\tWolf\tlives in packs\n")
    (tmp_path / "wiki.documents").write_text("d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n")
    (tmp_path / "en2fr.rel").write_text("q1\td1\t2\nq1\td2\t1\n")
    (tmp_path / "run.yaml").write_text(CONFIG)
    return tmp_path / "run.yaml"


@pytest.fixture
def clir(monkeypatch: pytest.MonkeyPatch) -> Clir:
    """Runs `clir` in this process."""
    return Clir(monkeypatch)
