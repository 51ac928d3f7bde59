"""The statistics of documents that an exported model was made with, and keeps."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class ModelStatistics(NamedTuple):
    """Those of the documents that its lexicon was made of."""

    kind: str
    """Of the lexicon."""
    documents: int
    mean_length: float
    """Of a document, in terms."""
    document_frequency: dict[bytes, float]
    """Of every term that the lexicon knows."""

    @classmethod
    def of(cls, model: Any) -> "ModelStatistics | None":
        """Those of an exported model that was loaded; None where it has no lexicon, or does not tell.

        Those that earlier versions exported do not.
        """
        if "collection_statistics" not in model.signatures:
            return None
        found = {name: column.numpy() for name, column in model.signatures["collection_statistics"]().items()}
        frequencies: npt.NDArray[np.float64] = found["document_frequency"].astype(np.float64)
        return cls(
            kind=model.signatures["words_channel"]()["name"].numpy().decode(),
            documents=int(found["documents"]),
            mean_length=float(found["mean_length"]),
            document_frequency=dict(zip(found["term"].tolist(), frequencies.tolist(), strict=True)),
        )
