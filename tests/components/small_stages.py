"""Small stages, which note what they are called with."""

import math
from typing import Any

from tfx.types.standard_artifacts import Examples

from components.stage import Apply, Identity, Input, MakePipeline, Output, stage
from schemas.artifacts import Collection, IngestionReport
from schemas.settings import Settings

calls: list[Any] = []


class Limits(Settings):
    """Settings of a stage."""

    minimum: int = 1
    """The smallest number."""
    names: tuple[str, ...] = ()
    """Names."""


@stage
def Count(
    examples: Input[Examples],
    report: Output[IngestionReport],
    limit: int,
    settings: Limits,
    identity: Identity,
    collection: Input[Collection] | None = None,
    share: float = 0.5,
    tag: str | None = None,
) -> None:
    """Counts."""
    calls.append((examples, collection, report, limit, settings, share, tag, identity))


@stage
def Share(report: Output[IngestionReport], apply: Apply, numbers: list[float]) -> None:
    """Works item by item."""
    calls.append([*apply(math.sqrt, numbers)])


@stage
def Pipeline(report: Output[IngestionReport], make_pipeline: MakePipeline) -> None:
    """Makes two pipelines."""
    make_pipeline()
    make_pipeline()
