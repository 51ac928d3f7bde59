"""The executor of Transform: TFX's own on the workers of a Beam runner, and a plain loop in one process."""

import os
from typing import Any, Final

from tfx import types
from tfx.components.transform import executor, executor_utils
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, standard_component_specs
from tfx.utils import io_utils, json_utils

from components.on_workers import has_workers
from components.transform.numbered_lists import number_lists
from components.transform.one_process import TransformLists, make_graph
from components.transform.settings import TransformSettings

_FILE_PREFIX: Final = "transformed_examples"  # as TFX's own names its files


class Executor(executor.Executor):
    """Does what TFX's does, with the same vocabularies, graph and examples.

    In one process TFX's takes ten tracings of the graph, hands each word of a batch to Beam, tokenises a text twice for
    every list it stands in, and compresses in Python: this one tokenises each distinct text once, and has TFX make the
    graph of vocabularies that are files, which needs no Beam then.
    """

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the graph and the transformed examples."""
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
        others = [path for split in splits.transform for path in files(split)]
        transformed = output_dict[keys.TRANSFORMED_EXAMPLES_KEY]
        executor_utils.SetSplitNames(splits.transform, transformed)
        lists = number_lists(dict.fromkeys([*counted, *others]), settings)
        transform = TransformLists(lists, make_graph(lists, counted, schema, settings, graph))
        for split in splits.transform:
            (uri,) = artifact_utils.get_split_uris(transformed, split)
            fileio.makedirs(uri)
            transform(files(split), os.path.join(uri, _FILE_PREFIX))
