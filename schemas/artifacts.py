"""TFX artifact types of ours: what components hand each other beyond TFX's standard types."""

from tfx.types import artifact


class IngestionReport(artifact.Artifact):
    """What ingestion read, used and left out: `report.json`."""

    TYPE_NAME = "IngestionReport"


class RankingRun(artifact.Artifact):
    """A ranking of the test lists: the TREC run file `run.trec`."""

    TYPE_NAME = "RankingRun"
