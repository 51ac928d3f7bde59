"""components/pusher/model_card.py: a card names the pre-trained encoder, its licence and its part in the score."""

from typing import Any

import pytest

from components.pusher.model_card import model_card
from schemas.training_history import Fitted
from tests.components.pusher.card import CUT, DATA, SETTINGS, history, report

DIGEST = "ab" * 32
KINDS = {
    "endpoint": ({"address": "http://localhost:1", "query_model": "labse", "probes": (3.0, 0.5)}, "[3.0, 0.5]"),
    "saved_model": ({"path": "models/labse", "sha256": {"path": DIGEST}}, DIGEST),
    "vectors": ({"query_vectors": "q.npy", "document_vectors": "d.npy", "name": "labse"}, "labse"),
}


def card(encoder: dict[str, Any], weight: float | None = None, **channels: str) -> str:
    numbers = history(fitted={"encoder.weight": Fitted(value=weight, curve=[])} if weight else {})
    settings = {**SETTINGS, "channels": {**SETTINGS["channels"], "encoder": encoder, **channels}}
    return model_card(settings, DATA, cut=CUT, history=numbers, report=report(), reason="it is good")


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_names_an_encoder_its_licence_and_what_tells_it_from_another(kind: str) -> None:
    own, shown = KINDS[kind]
    lines = card({"kind": kind, "licence": "CC BY", **own}).splitlines()
    (line,) = (line for line in lines if line.startswith("`labse`"))
    assert f"`{kind}`" in line and "CC BY" in line and shown in line


def test_a_card_shows_the_weight_of_an_encoder_as_it_was_fitted_or_its_head() -> None:
    encoder = {"kind": "endpoint", **KINDS["endpoint"][0], "weight": 0.25}
    assert "plus 0.25 times the standardised cosine" in card(encoder)
    assert "plus 0.125 times the standardised cosine" in card(encoder, weight=0.125)
    text = card(encoder, towers="encoder_head")
    assert "standardised cosine" not in text and "linear maps of those of the pre-trained encoder `labse`" in text
