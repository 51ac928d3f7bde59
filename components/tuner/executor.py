"""TFX's Tuner, which keeps of a search the trials that succeeded, prints to stdout, and knows of no kill."""

import os
import tempfile
from typing import Any

from tfx import types
from tfx.components.tuner import executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, standard_component_specs

from schemas.lexicon_inputs import with_lexicon
from schemas.training_history import TRIALS_FILE


class Executor(executor.Executor):
    """Searches, and writes the best numbers and all trials."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Searches with a `models.tuning.trial_search.TrialSearch`, whose own folder ends with the search."""
        with tempfile.TemporaryDirectory() as working_dir:
            properties = with_lexicon(input_dict, exec_properties)
            search = executor.search(input_dict, properties, working_dir, print_tuning_summary=False)
            executor.write_best_hyperparameters(search, output_dict)
        results = artifact_utils.get_single_uri(output_dict[standard_component_specs.TUNER_RESULTS_KEY])
        with fileio.open(os.path.join(results, TRIALS_FILE), "w") as file:
            file.write(search.results().to_json())
        fileio.rmtree(search.folder)
