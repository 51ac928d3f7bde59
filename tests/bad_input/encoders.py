"""Bad settings of a pre-trained encoder, and bad files of its vectors."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tests.bad_input.case import AT_ONCE, BY_THE_RUN, Case, Make
from tests.bad_input.spoil import all_of, file, fill_every_split, setting

_KEY: Final = "sk-Proj/0123456789abcdef"
_PASSWORD: Final = "hunter2hunter2"
_QUERIES: Final = tuple(f"q{i}" for i in range(1, 6))
_DOCUMENTS: Final = tuple(f"d{i}" for i in range(1, 7))
_ENDPOINT: Final = "kind: endpoint, address: 'http://127.0.0.1:1', query_model: m"
_VECTORS: Final = "kind: vectors, query_vectors: q.npy, document_vectors: d.npy"


def _encoder(settings: str) -> Make:
    """Gives the configuration an encoder."""
    return setting(f"encoder: {{{settings}}}\n")


def _files(
    ids: Mapping[str, Sequence[str]] | None = None, settings: str = _VECTORS, **rows: Sequence[Sequence[float]]
) -> Make:
    """Brings vectors of the good collection in files, q.npy and d.npy with the ids beside them.

    Args:
      ids: other ids for a file, by its name.
      settings: the encoder's.
      **rows: other vectors for a file, by its name.
    """
    makes = []
    for name, good in (("q", _QUERIES), ("d", _DOCUMENTS)):
        vectors = rows.get(name, [[1.0, place, 2.0] for place in range(len(good))])
        lines = "".join(f"{one}\n" for one in (ids or {}).get(name, good))
        makes += [file(f"{name}.npy", _npy(vectors)), file(f"{name}.ids", lines)]
    return all_of(*makes, _encoder(settings))


def _npy(vectors: Sequence[Sequence[float]]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(vectors, np.float32))
    return stream.getvalue()


def _without_ids(folder: Path) -> None:
    (folder / "d.ids").unlink()


def _parquet_without_vectors(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [*_DOCUMENTS], "embedding": [[1.0, 2.0]] * len(_DOCUMENTS)}), folder / "d.parquet")


def _with_a_row(row: Sequence[float]) -> list[list[float]]:
    """The documents' vectors, of which the third is another."""
    return [[1.0, place, 2.0] if place != 2 else [*row] for place in range(len(_DOCUMENTS))]


ENCODERS = [
    Case(
        "unknown_encoder",
        "The kind of the encoder is unknown.",
        AT_ONCE,
        _encoder("kind: bert"),
        ("run.yaml:8: encoder.kind: must be 'none', ", "got 'bert'"),
    ),
    Case(
        "settings_of_another_encoder",
        "An encoder is given the settings of another kind.",
        AT_ONCE,
        _encoder(f"{_ENDPOINT}, signature: texts"),
        ("run.yaml:8: encoder: signature is for the kind saved_model alone, and kind is endpoint",),
    ),
    Case(
        "settings_of_no_encoder",
        "The settings of an endpoint stand beside the kind none.",
        AT_ONCE,
        _encoder("kind: none, address: 'http://127.0.0.1:1', query_model: m"),
        ("address is for the kind endpoint alone, and kind is none", "query_model is for the kind endpoint alone"),
    ),
    Case(
        "encoder_without_its_settings",
        "An encoder lacks settings that its kind needs.",
        AT_ONCE,
        _encoder("kind: vectors, query_vectors: q.npy"),
        ("encoder: document_vectors must be given for the kind vectors",),
    ),
    Case(
        "head_with_another_scorer",
        "The encoder has a head, and another scorer is chosen.",
        AT_ONCE,
        all_of(setting("model: {scorer: two_towers}\n"), _encoder(f"{_ENDPOINT}, head: linear")),
        ("head must be linear where model.scorer is encoder_head, and nowhere else; got head linear and",),
    ),
    Case(
        "scorer_without_its_head",
        "The scorer is the head of an encoder, and the encoder has none.",
        AT_ONCE,
        all_of(setting("model: {scorer: encoder_head}\n"), _encoder(_ENDPOINT)),
        ("head must be linear where model.scorer is encoder_head, and nowhere else; got head none and",),
    ),
    Case(
        "head_without_an_encoder",
        "There is a head, and no encoder.",
        AT_ONCE,
        _encoder("kind: none, head: linear"),
        ("encoder: head must be none for the kind none, which is no encoder; got linear",),
    ),
    Case(
        "key_of_an_endpoint_in_the_configuration",
        "The key of an endpoint itself stands in `encoder.key_variable`.",
        AT_ONCE,
        _encoder(f"{_ENDPOINT}, key_variable: {_KEY}"),
        ("run.yaml:8: encoder.key_variable: must be a name of an environment variable that begins with CLIR_, ",),
    ),
    Case(
        "variable_of_another_secret",
        "`encoder.key_variable` names the variable of another secret.",
        AT_ONCE,
        _encoder(f"{_ENDPOINT}, key_variable: AWS_SECRET_ACCESS_KEY"),
        ("run.yaml:8: encoder.key_variable: must be a name of an environment variable that begins with CLIR_, ",),
    ),
    Case(
        "address_with_a_password",
        "The address of an endpoint holds a password.",
        AT_ONCE,
        _encoder(f"kind: endpoint, address: 'https://ann:{_PASSWORD}@example.org', query_model: m"),
        ("encoder.address: must hold no user and no password: name the key's environment variable in key_variable",),
    ),
    Case(
        "address_of_another_protocol",
        "The address of an endpoint is for FTP.",
        AT_ONCE,
        _encoder("kind: endpoint, address: 'ftp://example.org', query_model: m"),
        ("encoder.address: must be http://host:port, or https, without a query; got 'ftp://example.org'",),
    ),
    Case(
        "prefix_for_vectors_in_files",
        "Queries shall have a prefix, and their vectors come in files.",
        AT_ONCE,
        _files(settings=f"{_VECTORS}, query_prefix: 'query: '"),
        ("run.yaml:8: encoder: query_prefix and document_prefix must be empty for the kind vectors",),
    ),
    Case(
        "channel_of_the_kind_encoder",
        "A channel is of the kind encoder, which `encoder.kind` chooses.",
        AT_ONCE,
        setting("channels: {meaning: {kind: encoder}}\n"),
        ("channels: must not be of the kind encoder, which encoder.kind chooses; got it for meaning",),
    ),
    Case(
        "channel_of_the_name_encoder",
        "A channel has the name of the encoder's.",
        AT_ONCE,
        all_of(_encoder(_ENDPOINT), setting("channels: {encoder: {kind: cl_lsi}}\n")),
        ("channels: must have names of their own; got encoder, which another part of the score has",),
    ),
    Case(
        "held_out_weight_of_an_encoder_without_domains",
        "The weight of the encoder is to be fitted on domains, and the collection names none.",
        AT_ONCE,
        _encoder(f"{_ENDPOINT}, weight: held_out"),
        ("run.yaml:8: encoder: weight must not be held_out without data.domains, which are left out in turn",),
    ),
    Case(
        "file_for_a_saved_model",
        "The path of a SavedModel is that of a file.",
        AT_ONCE,
        all_of(file("encoder.pb", b"\x08\x01"), _encoder("kind: saved_model, path: encoder.pb")),
        ("run.yaml:8: encoder.path: must be the folder of a SavedModel; encoder.pb is a file.",),
    ),
    Case(
        "missing_saved_model",
        "A SavedModel is not there.",
        AT_ONCE,
        _encoder("kind: saved_model, path: encoder"),
        ("run.yaml:8: encoder.path: must be the folder of a SavedModel; there is no folder encoder.",),
    ),
    Case(
        "folder_without_a_saved_model",
        "The folder of a SavedModel holds none.",
        AT_ONCE,
        all_of(file("encoder/model.safetensors", b"\x08"), _encoder("kind: saved_model, path: encoder")),
        ("run.yaml:8: encoder.path: must be the folder of a SavedModel; encoder holds no saved_model.pb.",),
    ),
    Case(
        "missing_text_vectors",
        "A file of vectors is not there.",
        AT_ONCE,
        _encoder(_VECTORS),
        ("encoder.query_vectors: there is no file q.npy.", "encoder.document_vectors: there is no file d.npy."),
    ),
    Case(
        "text_vectors_of_another_format",
        "A file of vectors is neither Parquet nor .npy.",
        AT_ONCE,
        all_of(file("d.tsv", "d1\t1\t2\n"), _files(settings=_VECTORS.replace("d.npy", "d.tsv"))),
        ("encoder.document_vectors: the name of a file of vectors must end in .parquet or .npy; got d.tsv.",),
    ),
    Case(
        "text_vectors_without_ids",
        "The ids beside an .npy file are missing.",
        AT_ONCE,
        all_of(_files(), _without_ids),
        ("encoder.document_vectors: the ids of d.npy must stand in d.ids, one a line, which cannot be read: No such",),
    ),
    Case(
        "text_vectors_without_their_column",
        "A Parquet file lacks the column of the vectors.",
        AT_ONCE,
        all_of(_parquet_without_vectors, _files(settings=_VECTORS.replace("d.npy", "d.parquet"))),
        ("d.parquet must have one column vector of lists of floats; its columns are id, embedding.",),
    ),
    Case(
        "cut_text_vectors",
        "An .npy file is cut off.",
        AT_ONCE,
        all_of(_files(), file("d.npy", _npy([[1.0, 2.0]] * 6)[:-8])),
        ("encoder.document_vectors: d.npy must be a whole .npy file of floats: ", "Save it again."),
    ),
    Case(
        "text_vector_of_zeros",
        "A vector is zero, and has no cosine.",
        AT_ONCE,
        _files(d=_with_a_row([0, 0, 0])),
        ("encoder.document_vectors: d.npy: the vector of 'd3' (row 3) must not be zero; got zeros.",),
    ),
    Case(
        "text_vector_with_nan",
        "A vector holds NaN.",
        AT_ONCE,
        _files(d=_with_a_row([1, float("nan"), 2])),
        ("encoder.document_vectors: d.npy: the vector of 'd3' (row 3) must be finite; got NaN, infinity or too much.",),
    ),
    Case(
        "two_text_vectors_for_an_id",
        "A file holds two vectors for one id.",
        AT_ONCE,
        _files({"d": ["d1", "d2", "d3", "d2", "d5", "d6"]}),
        ("encoder.document_vectors: each id must occur once; 'd2' stands at d.ids:2 and at d.ids:4.",),
    ),
    Case(
        "damaged_saved_model",
        "A SavedModel is damaged.",
        BY_THE_RUN,
        all_of(
            fill_every_split,
            file("encoder/saved_model.pb", b"\x08\x01\x12\xff"),
            _encoder("kind: saved_model, path: encoder"),
        ),
        ("encoder/saved_model.pb must be a SavedModel's protocol buffer; it cannot be parsed",),
    ),
    Case(
        "fewer_ids_than_text_vectors",
        "There are fewer ids than vectors.",
        AT_ONCE,
        _files({"d": _DOCUMENTS[:-1]}),
        ("encoder.document_vectors: d.ids must hold one id for each vector of d.npy; it holds 5.",),
    ),
    Case(
        "text_vectors_on_a_bucket",
        "Vectors lie on a bucket.",
        AT_ONCE,
        _files(settings=_VECTORS.replace("d.npy", "gs://bucket/d.npy")),
        ("encoder.document_vectors: must be a local file, for vectors are not read from a bucket; got gs://bucket/d",),
    ),
    Case(
        "address_with_a_key_in_its_query",
        "The address of an endpoint holds a key in its query.",
        AT_ONCE,
        _encoder(f"kind: endpoint, address: 'https://example.org/?api_key={_PASSWORD}', query_model: m"),
        ("encoder.address: must be http://host:port, or https, without a query; got 'https://example.org/'",),
    ),
    Case(
        "key_of_an_endpoint_on_the_command_line",
        "The key of an endpoint itself is given for `encoder.key_variable` on the command line.",
        AT_ONCE,
        _encoder(_ENDPOINT),
        ("--set encoder.key_variable=...: encoder.key_variable: must be a name of an environment variable",),
        ("run", "run.yaml", "--set", f"encoder.key_variable={_KEY}"),
    ),
    Case(
        "endpoint_that_is_not_running",
        "No endpoint answers at the address.",
        BY_THE_RUN,
        _encoder(f"{_ENDPOINT}, retries: 0"),
        ("the endpoint http://127.0.0.1:1/v1/embeddings must answer; it did not, in one try: ", "Is it running?"),
    ),
    Case(
        "query_without_a_text_vector",
        "A query has no vector.",
        BY_THE_RUN,
        all_of(fill_every_split, _files({"q": ["q1", "q2", "q3", "q4", "q9"]})),
        ("encoder.query_vectors: q.npy must hold a vector for the id of each query; 1 are missing, such as 'q5'.",),
    ),
    Case(
        "document_without_a_text_vector",
        "A document has no vector.",
        BY_THE_RUN,
        all_of(fill_every_split, _files({"d": _DOCUMENTS[:-1]}, d=_with_a_row([1, 2, 2])[:-1])),
        ("d.npy must hold a vector for the id of each document; 1 are missing, such as 'd6'.",),
    ),
    Case(
        "text_vectors_of_two_lengths",
        "The vectors of queries and those of documents have different lengths.",
        BY_THE_RUN,
        all_of(fill_every_split, _files(d=[[1.0, place] for place in range(len(_DOCUMENTS))])),
        (
            "the vectors of queries and of documents must have one length, ",
            "got 3 of each query and 2 of each document",
        ),
    ),
]
