"""How a compiled specification begins."""

from typing import Final

HEADER: Final = "# A pipeline for Kubeflow Pipelines 2, made by clir compile; see docs/kubeflow.md.\n"
"""Its first line, by which `clir compile` knows a file of its own."""
