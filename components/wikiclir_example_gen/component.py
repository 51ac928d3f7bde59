"""The stage WikiClirExampleGen: makes listwise examples."""

import os
from typing import Final

from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils
from tfx.types.standard_artifacts import Examples

from components.artifact_files import read_text
from components.stage import Input, MakePipeline, Output, stage
from components.wikiclir_example_gen.ingest import ingest
from components.wikiclir_example_gen.lists import IngestSettings
from components.wikiclir_example_gen.report import DataReport
from schemas.artifacts import Collection, IngestionReport
from schemas.collection import MANIFEST_FILE, parse_manifest
from schemas.drops import REPORT_FILE
from schemas.splits import SPLITS

_FILE_PREFIX: Final = "data_tfrecord"  # the name that TFX's own ExampleGens give their files


@stage
def WikiClirExampleGen(
    collection: Input[Collection],
    examples: Output[Examples],
    report: Output[IngestionReport],
    make_pipeline: MakePipeline,
    settings: IngestSettings,
    max_bad_share: float,
    passages: Input[Collection] | None = None,
) -> None:
    """Makes listwise examples of a collection, and refuses a collection with too many bad records.

    Args:
      collection: queries, documents, and judgments or candidates.
      examples: splits train, eval and test, with a `tf.train.Example` a query (see `schemas.features`).
      report: the records read, used and left out.
      make_pipeline: makes the pipeline of the ingestion job.
      settings: see `IngestSettings`.
      max_bad_share: the largest share of a file's records that may be bad.
      passages: the passages of the documents, which stand in the lists in place of the documents.

    Raises:
      DataError: see `DataReport.check`.
    """
    examples.split_names = artifact_utils.encode_split_names(list(SPLITS))
    examples_utils.set_payload_format(examples, example_gen_pb2.PayloadFormat.FORMAT_TF_EXAMPLE)
    examples_utils.set_file_format(examples, "tfrecords_gzip")
    split_paths = {
        split: os.path.join(artifact_utils.get_split_uri([examples], split), _FILE_PREFIX) for split in SPLITS
    }
    roles = parse_manifest(read_text(collection, MANIFEST_FILE))
    texts = (passages.uri, parse_manifest(read_text(passages, MANIFEST_FILE))["documents"]) if passages else None
    with make_pipeline() as pipeline:
        ingest(pipeline, settings, collection.uri, roles, split_paths, os.path.join(report.uri, REPORT_FILE), texts)
    DataReport.from_json(read_text(report, REPORT_FILE)).check(max_bad_share)
