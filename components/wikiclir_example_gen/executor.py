"""The executor of WikiClirExampleGen: artifacts in and out, the work is in `ingest`."""

import json
import os
from typing import Any, Final

from tfx import types
from tfx.components.util import examples_utils
from tfx.dsl.components.base import base_beam_executor
from tfx.dsl.io import fileio
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils

from components.wikiclir_example_gen.ingest import IngestSettings, ingest
from components.wikiclir_example_gen.report import REPORT_FILE, read_report
from schemas.collection import MANIFEST_FILE, parse_manifest
from schemas.splits import SPLITS

EXAMPLES_KEY: Final = "examples"
REPORT_KEY: Final = "report"
COLLECTION_KEY: Final = "collection"
SETTINGS_KEY: Final = "settings"

_FILE_PREFIX = "data_tfrecord"  # as TFX's own ExampleGens name their files


class Executor(base_beam_executor.BaseBeamExecutor):
    """Runs the ingestion job and refuses a collection that is too bad."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the examples and the report.

        Raises:
          DataError: see `DataReport.check`.
        """
        settings = json.loads(exec_properties[SETTINGS_KEY])
        max_bad_share = settings.pop("max_bad_share")
        examples = artifact_utils.get_single_instance(output_dict[EXAMPLES_KEY])
        examples.split_names = artifact_utils.encode_split_names(list(SPLITS))
        examples_utils.set_payload_format(examples, example_gen_pb2.PayloadFormat.FORMAT_TF_EXAMPLE)
        examples_utils.set_file_format(examples, "tfrecords_gzip")
        split_paths = {
            split: os.path.join(artifact_utils.get_split_uri([examples], split), _FILE_PREFIX) for split in SPLITS
        }
        report_path = os.path.join(artifact_utils.get_single_uri(output_dict[REPORT_KEY]), REPORT_FILE)
        collection = artifact_utils.get_single_uri(input_dict[COLLECTION_KEY])
        with fileio.open(os.path.join(collection, MANIFEST_FILE)) as manifest:
            roles = parse_manifest(manifest.read())
        # Private, but what TFX's own executors call: the one way to the arguments that the runner gives Beam.
        with self._make_beam_pipeline() as pipeline:
            ingest(pipeline, IngestSettings(**settings), collection, roles, split_paths, report_path)
        with fileio.open(report_path) as report:
            read_report(report.read()).check(max_bad_share)
