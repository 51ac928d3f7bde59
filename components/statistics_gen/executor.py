"""The executor of StatisticsGen: TFX's own on the workers of a Beam runner, and a plain loop in one process."""

import os
from typing import Any, Final

import tensorflow_data_validation as tfdv
from tfx import types
from tfx.components.statistics_gen import executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, standard_component_specs
from tfx.utils import io_utils

from components.on_workers import has_workers
from components.statistics_gen.statistics_of import statistics_of

_FILE: Final = "FeatureStats.pb"  # as TFX's own names it


class Executor(executor.Executor):
    """Does what TFX's does, with the same generators of statistics, and without Beam's seconds for every split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the statistics of each split."""
        if has_workers(self):
            super().Do(input_dict, output_dict, exec_properties)
            return
        keys = standard_component_specs
        examples = artifact_utils.get_single_instance(input_dict[keys.EXAMPLES_KEY])
        statistics = artifact_utils.get_single_instance(output_dict[keys.STATISTICS_KEY])
        statistics.split_names = examples.split_names
        options = tfdv.StatsOptions.from_json(exec_properties[keys.STATS_OPTIONS_JSON_KEY])
        for split in artifact_utils.decode_split_names(examples.split_names):
            files = fileio.glob(io_utils.all_files_pattern(artifact_utils.get_split_uri([examples], split)))
            folder = artifact_utils.get_split_uri([statistics], split)
            fileio.makedirs(folder)
            with fileio.open(os.path.join(folder, _FILE), "wb") as file:
                file.write(statistics_of(files, options).SerializeToString())
