"""The project's artifact types, which stages hand each other beyond TFX's standard types.

Kubeflow Pipelines compiles only types whose names have a part before a dot.
"""

from typing import Final

from tfx.types import artifact


class IngestionReport(artifact.Artifact):
    """The records that ingestion read, used and left out: `report.json`."""

    TYPE_NAME = "clir.IngestionReport"


class DomainReport(artifact.Artifact):
    """The domains that are trained on, and those held out: `report.json`."""

    TYPE_NAME = "clir.DomainReport"


class RankingRun(artifact.Artifact):
    """A ranking of the test lists: the TREC run file `run.trec`."""

    TYPE_NAME = "clir.RankingRun"


class WikiClirFiles(artifact.Artifact):
    """Queries, documents and judgments made from dumps (see `schemas.wikiclir`), pairs of titles, a manifest and a data
    card."""

    TYPE_NAME = "clir.WikiClirFiles"


class Collection(artifact.Artifact):
    """The input files, read once: shards and a manifest, see `schemas.collection`."""

    TYPE_NAME = "clir.Collection"


class TrainingReport(artifact.Artifact):
    """The report of a training for people: the folder `training`, and after a search the folder `tuning`."""

    TYPE_NAME = "clir.TrainingReport"


class Lexicon(artifact.Artifact):
    """Translations learned from pairs of texts, and statistics of the collection: see `models.lexicon.lexicon`."""

    TYPE_NAME = "clir.Lexicon"


class Translations(artifact.Artifact):
    """Sentences and their translations by a machine, for the lexicon: see `schemas.lexicon_pairs`."""

    TYPE_NAME = "clir.Translations"


class TextVectors(artifact.Artifact):
    """The vectors of a pre-trained encoder of all texts: see `models.encoders.text_vectors`."""

    TYPE_NAME = "clir.TextVectors"


class CorpusIndex(artifact.Artifact):
    """A searchable collection: see `schemas.index_manifest`."""

    TYPE_NAME = "clir.CorpusIndex"


class SearchEvaluation(artifact.Artifact):
    """The metrics of the test queries searching the whole collection: see `schemas.search_report`."""

    TYPE_NAME = "clir.SearchEvaluation"


TYPES: Final[tuple[type[artifact.Artifact], ...]] = tuple(
    kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, artifact.Artifact)
)
"""All types above."""
