"""Launches the stages of a pipeline one by one, announces each, and repeats a cached stage whose files were lost."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ml_metadata.proto import metadata_store_pb2
from tfx.orchestration import pipeline as tfx_pipeline

from pipeline.recovery import are_whole, record_files, replace_files
from pipeline.stages import ALWAYS_RUN, How, Outputs, StageEnd, cpu_seconds, peak_memory
from pipeline.tfx_interfaces import compiled, launch_node, opened, uncached_copy


def launch(
    pipeline: tfx_pipeline.Pipeline,
    connection: metadata_store_pb2.ConnectionConfig,
    on_start: Callable[[int, int, str], None],
    on_outputs: Callable[[str, Outputs], None] = lambda name, outputs: None,
    beam_arguments: Sequence[str] = (),
) -> Iterator[tuple[StageEnd, Outputs]]:
    """Runs every stage that the cache does not hold, in order.

    Args:
      pipeline: the pipeline.
      connection: the connection to its metadata.
      on_start: called with (number, total, name) when a stage starts.
      on_outputs: called with (name, output artifacts) before a stage writes them, or when the cache has them.
      beam_arguments: arguments of the Beam stages' runner; the cache's keys do not depend on them.

    Yields:
      each finished stage, with its output artifacts.
    """
    ir = compiled(pipeline)
    for number, item in enumerate(ir.nodes, 1):
        node = item.pipeline_node
        name = node.node_info.id
        if name in ALWAYS_RUN:
            node.execution_options.caching_options.enable_cache = False
        started, used = time.monotonic(), cpu_seconds()
        on_start(number, len(ir.nodes), name)
        is_cached, outputs = launch_node(ir, node, connection, beam_arguments, partial(on_outputs, name))
        how: How = "cached" if is_cached else "run"
        if is_cached:
            on_outputs(name, outputs)
        artifacts = [artifact for artifacts in outputs.values() for artifact in artifacts]
        uris = [artifact.uri for artifact in artifacts]
        with opened(connection) as store:
            if not is_cached:
                record_files(store, uris)
            elif not are_whole(store, uris):
                # Replaces the lost files by those of a second execution, so that later stages stay cached.
                _, made = launch_node(ir, uncached_copy(node), connection, beam_arguments)
                new = [artifact.mlmd_artifact for key in outputs for artifact in made[key]]
                replace_files(store, [artifact.mlmd_artifact for artifact in artifacts], new)
                how = "restored"
        seconds, cpu = time.monotonic() - started, cpu_seconds() - used
        yield StageEnd(number, len(ir.nodes), name, how, seconds, cpu, peak_memory()), outputs
