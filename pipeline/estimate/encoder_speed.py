"""Measures the speed of a pre-trained encoder on this machine."""

import time
from typing import Final, NamedTuple

from models.encoders.load_encoder import load_encoder
from models.encoders.settings import IN_GRAPH
from pipeline.config import RunConfig
from pipeline.estimate.collection_size import CollectionSize, first_texts

_SECONDS: Final = 5.0
_TEXTS: Final = 256
_OF_A_CALL: Final = 8


class EncoderSpeed(NamedTuple):
    """The measured speed of an encoder."""

    texts_per_second: float
    dim: int
    """The length of a vector."""
    encoded: int
    """The number of texts that a run encodes, those of the evaluation counted again if the model holds the encoder."""

    @property
    def seconds(self) -> float:
        """The time of all texts of a run."""
        return self.encoded / self.texts_per_second


def measure_encoder(config: RunConfig, size: CollectionSize) -> EncoderSpeed | None:
    """Encodes documents of the collection for some seconds, without the first call; None where nothing is encoded.

    Args:
      config: of a run.
      size: of its collection.

    Raises:
      DataError: the encoder cannot be loaded, or fails.
    """
    if config.encoder.kind in ("none", "vectors"):
        return None
    texts = first_texts(config.data.inputs()["documents"], _TEXTS)
    encoder = load_encoder(config.encoder)
    dim = encoder.encode(texts[:1], "document").shape[1]
    started, done = time.perf_counter(), 0
    while time.perf_counter() - started < _SECONDS and done < len(texts):
        encoder.encode(texts[done : done + _OF_A_CALL], "document")
        done += len(texts[done : done + _OF_A_CALL])
    speed = done / (time.perf_counter() - started)
    encoded = size.documents + sum(size.lists.values())
    if config.encoder.kind in IN_GRAPH:
        encoded += size.lists["test"] + min(size.documents, size.pairs["test"])
    return EncoderSpeed(speed, dim, encoded)
