"""TFX artifact types of ours: what components hand each other beyond TFX's standard types.

Their names have a part before a dot, without which they could not be compiled for Kubeflow Pipelines.
"""

from typing import Final

from tfx.types import artifact


class IngestionReport(artifact.Artifact):
    """What ingestion read, used and left out: `report.json`."""

    TYPE_NAME = "clir.IngestionReport"


class RankingRun(artifact.Artifact):
    """A ranking of the test lists: the TREC run file `run.trec`."""

    TYPE_NAME = "clir.RankingRun"


class WikiClirFiles(artifact.Artifact):
    """Queries, documents and judgments that were made of dumps, as the files of `schemas.wikiclir`, titles of both
    languages that mean the same, a manifest and a data card."""

    TYPE_NAME = "clir.WikiClirFiles"


class Collection(artifact.Artifact):
    """The input files, read once: shards and a manifest, see `schemas.collection`."""

    TYPE_NAME = "clir.Collection"


class TrainingReport(artifact.Artifact):
    """What a training came to, for people: the folder `training`, and after a search the folder `tuning`."""

    TYPE_NAME = "clir.TrainingReport"


class Lexicon(artifact.Artifact):
    """Translations learned from pairs of texts, and statistics of the collection: see `models.lexicon.lexicon`."""

    TYPE_NAME = "clir.Lexicon"


class CorpusIndex(artifact.Artifact):
    """A collection in which every document can be found: see `schemas.index_manifest`."""

    TYPE_NAME = "clir.CorpusIndex"


class SearchEvaluation(artifact.Artifact):
    """The metrics of the test queries searching the whole collection: see `schemas.search_report`."""

    TYPE_NAME = "clir.SearchEvaluation"


TYPES: Final = (
    Collection,
    CorpusIndex,
    IngestionReport,
    Lexicon,
    RankingRun,
    SearchEvaluation,
    TrainingReport,
    WikiClirFiles,
)
"""All of them."""
