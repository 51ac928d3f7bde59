"""pipeline/estimate/encoder_speed.py: how many texts a run encodes, and how fast."""

from types import SimpleNamespace

import pytest

from models.encoders.settings import EncoderSettings
from pipeline.config import load_config
from pipeline.estimate import encoder_speed
from pipeline.estimate.encoder_speed import measure_encoder
from tests.models.encoders.small_encoder import DIM, ENDPOINT, FILES, IN_GRAPH, CountingEncoder

pytestmark = pytest.mark.tensors

SIZE = SimpleNamespace(documents=100, lists={"train": 30, "eval": 10, "test": 10}, pairs={"test": 40})


@pytest.fixture
def encoder(monkeypatch):
    encoder = CountingEncoder()
    monkeypatch.setattr(encoder_speed, "load_encoder", lambda _: encoder)
    return encoder


@pytest.mark.parametrize(("settings", "encoded"), [(ENDPOINT, 150), (IN_GRAPH, 150 + 10 + 40)])
def test_texts_that_a_model_s_own_encoder_encodes_again_are_counted_again(config_file, encoder, settings, encoded):
    config = load_config(str(config_file), []).model_copy(update={"encoder": settings})
    speed = measure_encoder(config, SIZE)
    assert (speed.encoded, speed.dim) == (encoded, DIM)
    assert speed.seconds == pytest.approx(encoded / speed.texts_per_second)
    assert {role for role, _ in encoder.seen} == {"document"}


@pytest.mark.parametrize("settings", [EncoderSettings(), FILES])
def test_a_run_that_encodes_nothing_has_no_speed(config_file, encoder, settings):
    config = load_config(str(config_file), []).model_copy(update={"encoder": settings})
    assert measure_encoder(config, SIZE) is None
    assert not encoder.seen
