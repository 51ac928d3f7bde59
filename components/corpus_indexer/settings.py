"""Settings of search. Importing this file does not import TensorFlow."""

from schemas.settings import Settings


class SearchSettings(Settings):
    """Whether a run makes its collection searchable."""

    index: bool = False
    """Encode every document with the trained model: an index for `clir search` and `clir serve` under the output, and,
    beside the metrics of the test lists, those of the same queries searching the whole collection."""
