"""The stage Transform: TFX's on the workers of a Beam runner, and a plain loop in one process."""

import os
from typing import Any, Final

from tfx import types
from tfx.components.transform import component, executor, executor_utils
from tfx.dsl.components.base import executor_spec
from tfx.dsl.io import fileio
from tfx.proto import transform_pb2
from tfx.types import artifact_utils, channel, standard_component_specs
from tfx.utils import io_utils, json_utils

from components.artifact_files import write_text
from components.on_workers import has_workers
from components.transform.numbered_lists import number_lists
from components.transform.one_process import TransformLists, make_graph
from components.transform.settings import TransformSettings
from schemas.cut_texts import CUT_FILE

_FILE_PREFIX: Final = "transformed_examples"  # the name that TFX's own gives its files


class Executor(executor.Executor):
    """Makes what TFX's executor makes: the same vocabularies, graph and examples.

    In one process TFX's executor traces the graph ten times, hands each word of a batch to Beam, tokenises a text twice
    for every list that has it, and compresses in Python. This executor tokenises each distinct text once, and makes the
    graph without Beam, from vocabularies in files. It also counts what the limit on words cuts.
    """

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        if has_workers(self):
            super().Do(input_dict, output_dict, exec_properties)
            return
        keys = standard_component_specs
        examples = input_dict[keys.EXAMPLES_KEY]
        splits = executor_utils.ResolveSplitsConfig(exec_properties[keys.SPLITS_CONFIG_KEY], examples)
        schema_file = io_utils.get_only_uri_in_dir(artifact_utils.get_single_uri(input_dict[keys.SCHEMA_KEY]))
        schema = io_utils.SchemaReader().read(schema_file)
        settings = TransformSettings.model_validate(json_utils.loads(exec_properties[keys.CUSTOM_CONFIG_KEY]))
        graph = artifact_utils.get_single_uri(output_dict[keys.TRANSFORM_GRAPH_KEY])

        def files(split: str) -> list[str]:
            return [
                path
                for uri in artifact_utils.get_split_uris(examples, split)
                for path in fileio.glob(io_utils.all_files_pattern(uri))
            ]

        counted = [path for split in splits.analyze for path in files(split)]
        transformed_files = [path for split in splits.transform for path in files(split)]
        transformed = output_dict[keys.TRANSFORMED_EXAMPLES_KEY]
        executor_utils.SetSplitNames(splits.transform, transformed)
        lists = number_lists(dict.fromkeys([*counted, *transformed_files]), settings)
        transform = TransformLists(lists, make_graph(lists, counted, schema, settings, graph))
        write_text(output_dict[keys.TRANSFORM_GRAPH_KEY][0], CUT_FILE, lists.cut.to_json())
        for split in splits.transform:
            (uri,) = artifact_utils.get_split_uris(transformed, split)
            fileio.makedirs(uri)
            transform(files(split), os.path.join(uri, _FILE_PREFIX))


class Transform(component.Transform):
    """Makes vocabularies from the train split and ids from the texts, as TFX's does with `preprocessing_fn`.

    Args:
      examples: Examples.
      schema: Schema.
      settings: see `TransformSettings`.

    Outputs:
      transform_graph: TransformGraph; if made in one process, with a `schemas.cut_texts.CutReport`.
      transformed_examples: Examples with splits train and eval: the test split is scored as texts.
    """

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, schema: channel.BaseChannel, settings: TransformSettings) -> None:
        super().__init__(
            examples=examples,
            schema=schema,
            preprocessing_fn="components.transform.preprocessing.preprocessing_fn",
            custom_config=settings.model_dump(mode="json"),
            splits_config=transform_pb2.SplitsConfig(analyze=["train"], transform=["train", "eval"]),
            # Statistics after the transformation report two-level lists as anomalies, and double its time.
            disable_statistics=True,
            # No run reuses the analyzers' results.
            disable_analyzer_cache=True,
        )
