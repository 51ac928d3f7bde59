"""An executor of TFX's in one process, as ours has it, and in a pipeline of Beam's, as TFX has it."""

from typing import Any

WAYS = ("in one process", "on a runner")


def made(executor: Any, way: str) -> Any:
    """An executor of a class; given arguments for Beam, it takes TFX's own way."""
    arguments = [] if way == WAYS[0] else ["--direct_running_mode=in_memory"]
    return executor(executor.Context(beam_pipeline_args=arguments))
