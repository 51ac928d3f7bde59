"""The stage TextVectorGen: encodes all texts of a collection and its lists."""

import hashlib
import os

from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files
from components.stage import Apply, Input, Output, stage
from models.encoders.encode_texts import (
    encode_texts,
    length_of_vectors,
    read_queries,
    tables_of_files,
)
from models.encoders.endpoint import EndpointEncoder, fingerprint
from models.encoders.settings import TEXT_FORM, EncoderSettings, EndpointSettings, VectorsSettings, check_files
from models.encoders.text_vectors import EncoderRecord, write_text_vectors
from models.piece_store import PieceStore
from schemas.artifacts import Collection, TextVectors
from schemas.splits import SPLITS


@stage
def TextVectorGen(
    examples: Input[Examples],
    collection: Input[Collection],
    text_vectors: Output[TextVectors],
    apply: Apply,
    encoder: EncoderSettings,
    digest: str,
    store: str,
) -> None:
    """Encodes every distinct text once: the queries of all lists, and all documents of the collection.

    Vectors of an earlier execution, even of a killed one, are taken from the store: after a change of the collection
    only new texts are encoded.

    Args:
      examples: listwise Examples, as texts.
      collection: the documents.
      text_vectors: see `models.encoders.text_vectors`.
      apply: shares the texts among workers.
      encoder: the encoder; an endpoint that was not asked yet has no fingerprint.
      digest: the encoder's digest, see `pipeline.encoder_identity`; it names the encoder's folder in the store.
      store: folder of all encoders' vectors, local or remote.

    Raises:
      DataError: a text cannot be encoded, files of vectors lack one, a file of the encoder has changed, or queries and
        documents have vectors of two lengths.
    """
    check_files(encoder)
    probes = encoder.probes if isinstance(encoder, EndpointSettings) else ()
    if isinstance(encoder, EndpointSettings) and not probes:
        # In a cluster the endpoint was not asked yet: the digest does not identify the model behind the address.
        probes = fingerprint(EndpointEncoder(encoder).probe())
        encoder = encoder.model_copy(update={"probes": probes})
        digest = hashlib.sha256(f"{digest} {probes}".encode()).hexdigest()
    queries = read_queries(path for split in SPLITS for path in split_files(examples, split))
    record = EncoderRecord(settings=encoder.model_dump(mode="json"), digest=digest, probes=probes)
    if isinstance(encoder, VectorsSettings):
        tables = tables_of_files(encoder, queries, collection.uri)
    else:
        folder = os.path.join(store, digest)
        encoded = encode_texts(encoder, queries, collection.uri, PieceStore(folder), apply)
        tables = encoded.tables
        record = record.model_copy(update={"text_form": TEXT_FORM, "cut_texts": encoded.cut_texts})
    record = record.model_copy(update={"dim": length_of_vectors(encoder, tables)})
    write_text_vectors(text_vectors.uri, record, tables)
