"""The stage CorpusIndexer: makes an index of every document."""

import glob
import os
import tempfile

from tfx.types.standard_artifacts import Model

from components.artifact_files import read_text, serving_model
from components.corpus_indexer.index_collection import index_collection, parts_of, read_records
from components.stage import Input, MakePipeline, Output, stage
from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint
from schemas.artifacts import Collection, CorpusIndex, TextVectors
from schemas.collection import MANIFEST_FILE, parse_manifest
from smooth_clir.retrieval.assemble_index import assemble_index


@stage
def CorpusIndexer(
    model: Input[Model],
    collection: Input[Collection],
    index: Output[CorpusIndex],
    make_pipeline: MakePipeline,
    text_vectors: Input[TextVectors] | None = None,
    fields: list[str] | None = None,
) -> None:
    """Encodes every document of a collection with a model, and makes an index of them.

    Args:
      model: the exported model; its score is an inner product.
      collection: the documents.
      index: see `schemas.index_manifest`.
      make_pipeline: makes the pipeline of the encoding job.
      text_vectors: the vectors of a pre-trained encoder, so that it encodes no document again.
      fields: the fields of the documents, as CollectionGen got them.

    Raises:
      DataError: the model's score is not an inner product, so that nothing can be indexed.
    """
    path = serving_model(model)
    roles = parse_manifest(read_text(collection, MANIFEST_FILE))
    # In the index's folder, because the workers see it.
    with tempfile.TemporaryDirectory(dir=index.uri) as records:
        with make_pipeline() as pipeline:
            index_collection(
                pipeline,
                path,
                collection.uri,
                roles,
                index.uri,
                os.path.join(records, "records"),
                text_vectors.uri if text_vectors else None,
            )
        segments = read_records(glob.glob(os.path.join(records, "records*")))
    assemble_index(
        index.uri,
        model_fingerprint(path),
        segments,
        next_number=len(parts_of(roles["documents"].shards)),
        is_of_run=True,
        statistics=LoadedModel(path).statistics(),
        fields=fields or (),
    )
