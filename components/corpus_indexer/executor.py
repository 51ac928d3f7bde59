"""The executor of CorpusIndexer: artifacts in and out, the work is in `index_collection`."""

import glob
import os
import tempfile
from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.corpus_indexer.index_collection import index_collection, parts_of, read_records
from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint
from models.retrieval.assemble_index import assemble_index
from schemas.collection import MANIFEST_FILE, parse_manifest

MODEL_KEY: Final = "model"
COLLECTION_KEY: Final = "collection"
INDEX_KEY: Final = "index"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Encodes every document, and makes the index."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the index.

        Raises:
          DataError: the model's score is no inner product, so that nothing can be indexed.
        """
        model = path_utils.serving_model_path(artifact_utils.get_single_uri(input_dict[MODEL_KEY]))
        collection = artifact_utils.get_single_uri(input_dict[COLLECTION_KEY])
        folder = artifact_utils.get_single_uri(output_dict[INDEX_KEY])
        with fileio.open(os.path.join(collection, MANIFEST_FILE)) as manifest:
            roles = parse_manifest(manifest.read())
        # Where the workers see it, too.
        with tempfile.TemporaryDirectory(dir=folder) as records:
            with self._make_beam_pipeline() as pipeline:
                index_collection(pipeline, model, collection, roles, folder, os.path.join(records, "records"))
            segments = read_records(glob.glob(os.path.join(records, "records*")))
        assemble_index(
            folder,
            model_fingerprint(model),
            segments,
            next_number=len(parts_of(roles["documents"].shards)),
            statistics=LoadedModel(model).statistics(),
        )
