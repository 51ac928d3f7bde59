"""Settings of Kubeflow Pipelines, which no local run reads. Importing this file does not import TensorFlow."""

import os
import re
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from pipeline.stages import STAGES
from schemas.settings import OneOf, Settings

STORES: Final = ("gs://", "s3://", "minio://")
"""The schemes of the stores of Kubeflow Pipelines."""

HEADER: Final = "# A pipeline for Kubeflow Pipelines 2, made by clir compile; see docs/kubeflow.md.\n"
"""The first line of a compiled specification, by which `clir compile` recognises a file of its own."""

_CLAIM: Final = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
_IMAGE: Final = r"[\w][\w.:/@-]*"
_ACCELERATOR: Final = r"[\w][\w./-]*"


class Resources(Settings):
    """The resources of a stage's pod."""

    cpu: Annotated[float | None, Field(gt=0)] = None
    """Cores."""
    memory: Annotated[float | None, Field(gt=0)] = None
    """GB, of 10^9 bytes."""
    accelerator: Annotated[str | None, Field(pattern=f"^{_ACCELERATOR}$")] = None
    """Name of the accelerator in the cluster."""
    accelerator_count: Annotated[int | None, Field(ge=1, le=64)] = None
    """Number of accelerators; null: 1 if there is an `accelerator`."""

    @field_validator("accelerator_count")
    @classmethod
    def _count_needs_accelerator(cls, count: int | None, info: ValidationInfo) -> int | None:
        if count is not None and info.data.get("accelerator", "") is None:
            raise ValueError(f"must not be given without accelerator, which names what is counted; got {count}")
        return count


class KubeflowSettings(Settings):
    """Settings of Kubeflow Pipelines, which change no result of a stage."""

    image: Annotated[str | None, Field(pattern=f"^{_IMAGE}$")] = None
    """The container image that every stage runs in; `clir compile --image` overrides it."""
    pipeline_root: str | None = None
    """Store of the artifacts (gs://, s3:// or minio://); null: that of the installation. `clir compile --pipeline-root`
    overrides it."""
    volumes: dict[str, str] = {}
    """Name of a persistent volume claim to its folder in every stage. Inputs and `output` may lie there: give the
    SHA-256 of inputs that cannot be read when compiling."""
    resources: dict[Annotated[str, AfterValidator(OneOf(STAGES))], Resources] = {}
    """Stage to the resources of its pod: `{Trainer: {cpu: 8, memory: 32, accelerator: nvidia.com/gpu,
    accelerator_count: 1}}`. Cores, GB of 10^9 bytes, and the accelerator's name in the cluster; the cluster
    has defaults for the rest."""

    @field_validator("pipeline_root")
    @classmethod
    def _is_a_store(cls, root: str | None) -> str | None:
        if root is not None and not (root.startswith(STORES) and root.partition("://")[2].strip("/")):
            raise ValueError(f"must be a folder of a store, {', '.join(STORES)}...; got {root!r}")
        return root

    @field_validator("volumes")
    @classmethod
    def _volumes_can_be_mounted(cls, volumes: dict[str, str]) -> dict[str, str]:
        for claim, path in volumes.items():
            if not re.fullmatch(_CLAIM, claim):
                raise ValueError(f"must name claims in lower case letters, digits, - and .; got {claim!r}")
            if (
                not path.startswith("/")
                or ".." in PurePosixPath(path).parts
                or PurePosixPath(path) == PurePosixPath("/")
            ):
                raise ValueError(f"must give {claim} an absolute folder other than /; got {path!r}")
        if len({PurePosixPath(path) for path in volumes.values()}) < len(volumes):
            raise ValueError(f"must give every claim a different folder; got {', '.join(volumes.values())}")
        return volumes

    def is_on_volume(self, path: str) -> bool:
        """Whether a path lies on one of the volumes."""
        return any(PurePosixPath(path).is_relative_to(folder) for folder in self.volumes.values())

    def is_elsewhere(self, path: str) -> bool:
        """Whether a file lies on a volume that is not mounted here."""
        return self.is_on_volume(path) and not os.path.exists(path)
