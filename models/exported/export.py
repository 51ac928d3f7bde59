"""The SavedModel that is served: raw strings in, scores or vectors out, and no optimizer."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import tensorflow as tf

from models.choices import WITH_VECTORS
from models.encoders.pretrained_encoder import GraphEncoder, Role
from models.encoders.text_vectors import ROLES, EncoderRecord
from models.evaluation.relevance_shares import RelevanceShares
from models.exported.versions import write_sums
from models.graphs import graph_function
from models.lexicon.lexicon_channel import CollectionStatistics, LexiconChannel
from models.lists.feedback import FIRST_PASS, Feedback
from models.rankers.ranker import Ranker
from models.rankers.sparse_inner_product import SparseInnerProduct
from models.texts.text_features import TextFeatures, scored_words, term_counts
from models.texts.token_offsets import tokenize_with_offsets
from schemas import features as f
from schemas.passages import PassageSettings

_Table: Final[type] = tf.saved_model.experimental.TrackableResource
_TERM_SIGNATURES: Final = ("words_channel", "explain", "translate", "own_terms", "known_share")
_LEXICON_SIGNATURES: Final = ("collection_statistics", "document_words")


class _Server(tf.Module):
    """Holds the objects that signatures use: weights, and the vocabularies behind the features."""

    def __init__(
        self,
        ranker: Ranker,
        text_features: TextFeatures,
        theta: Sequence[float],
        encoder: "ExportedEncoder | None",
        relevance: RelevanceShares | None,
        feedback: Feedback,
        passages: PassageSettings | None,
    ) -> None:
        super().__init__()
        # Only the weights: a tracked model would also save its optimizer's slots, a tracked layer dropout's state.
        self.weights = ranker.weights
        tables = (value for channel in ranker.channels.values() for value in vars(channel).values())
        self.resources = [text_features, *(value for value in tables if isinstance(value, _Table))]
        self._text_features = text_features
        self._padded_scores = ranker.padded_scores
        self._score_texts = ranker.score_texts
        self._weights_of_channels = ranker.weights_of_channels
        self._theta, self._relevance, self._feedback = tuple(theta), relevance, feedback
        self._passages = passages
        self._encoder = encoder.graph if encoder else None
        self._record = encoder.record if encoder else None

    def signatures(self) -> dict[str, Any]:
        """Returns the functions of all signatures by their names."""
        signatures = {"channel_weights": self.channel_weights, "grade_bands": self.grade_bands}
        signatures |= {"text_encoder": self.text_encoder} if self._record else {}
        signatures |= {"relevance": self.relevance} if self._relevance else {}
        signatures |= {"feedback": self.feedback} if self._feedback.gain else {}
        signatures |= {"passages": self.passages} if self._passages else {}
        for name, function, specs in self._functions():
            texts = [spec for spec in specs if spec.dtype == tf.string]
            if self._record is None or self._encoder:
                signatures[name] = graph_function(function, input_signature=texts)
            if self._record:
                signatures[f"{name}{WITH_VECTORS}"] = graph_function(function, input_signature=specs)
        if self._encoder:
            signatures |= {
                f"{role}_text_vectors": graph_function(
                    partial(self._text_vectors, role=role), input_signature=[tf.TensorSpec([None], tf.string, role)]
                )
                for role in ROLES
            }
        return signatures

    def _functions(self) -> Iterator[tuple[str, Any, list[tf.TensorSpec]]]:
        """Yields name, function and inputs of each signature that takes texts; the inputs are those with vectors."""
        dim = self._record.dim if self._record else None
        specs = [
            tf.TensorSpec([None], tf.string, "query"),
            tf.TensorSpec([None, None], tf.string, "documents"),
            tf.TensorSpec([None, dim], tf.float32, "query_vectors"),
            tf.TensorSpec([None, None, dim], tf.float32, "document_vectors"),
        ]
        yield "score", self._score, specs

    def _score(
        self,
        query: tf.Tensor,
        documents: tf.Tensor,
        query_vectors: tf.Tensor | None = None,
        document_vectors: tf.Tensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """Returns the model's and each channel's scores of each query's documents, [batch, list_size]."""
        distinct, row = tf.unique(tf.reshape(documents, [-1]))
        vectors = None
        if document_vectors is not None:
            flat = tf.reshape(document_vectors, [-1, document_vectors.shape[-1]])
            first = tf.math.unsorted_segment_min(tf.range(tf.size(row)), row, tf.size(distinct))
            vectors = tf.gather(flat, first)
        scores = self._score_texts(
            {
                **self._query_features(query, query_vectors),
                **self._document_features(distinct, vectors),
                f.DOCUMENT_INDEX: tf.reshape(row, tf.shape(documents)),
            }
        )
        is_padding = tf.equal(documents, "")
        return {name: tf.where(is_padding, self._padded_scores[name], rows) for name, rows in scores.items()}

    @graph_function(input_signature=[])
    def channel_weights(self) -> dict[str, tf.Tensor]:
        """Returns the weight of each channel in the score, by its name."""
        return {name: tf.constant(weight) for name, weight in self._weights_of_channels.items()}

    @graph_function(input_signature=[])
    def grade_bands(self) -> dict[str, tf.Tensor]:
        """Returns the thresholds between the grades; empty where the loss has none."""
        return {"theta": tf.constant(self._theta, tf.float32)}

    @graph_function(input_signature=[])
    def relevance(self) -> dict[str, tf.Tensor]:
        """Returns the fields of the shares of relevant documents."""
        fields = self._relevance._asdict() if self._relevance else {}
        return {
            name: tf.constant(value, tf.int64 if name == "queries" else tf.float32) for name, value in fields.items()
        }

    @graph_function(input_signature=[])
    def feedback(self) -> dict[str, tf.Tensor]:
        """Returns the numbers of the second pass."""
        return {"gain": tf.constant(self._feedback.gain), "documents": tf.constant(self._feedback.documents, tf.int64)}

    @graph_function(input_signature=[])
    def passages(self) -> dict[str, tf.Tensor]:
        """Returns the lengths of passages, and whether white space alone parts words."""
        numbers = self._passages.model_dump() if self._passages else {}
        segmented = tf.constant(self._text_features.rules.segmented)
        return {"segmented": segmented, **{name: tf.constant(value, tf.int64) for name, value in numbers.items()}}

    @graph_function(input_signature=[])
    def text_encoder(self) -> dict[str, tf.Tensor]:
        """Returns the record of the pre-trained encoder, as JSON."""
        return {"record": tf.constant(self._record.to_json() if self._record else "")}

    def _text_vectors(self, texts: tf.Tensor, role: Role) -> dict[str, tf.Tensor]:
        """Returns the pre-trained encoder's own vectors of texts, [batch, dim]."""
        return {"vectors": self._encoder.vectors(texts, role)} if self._encoder else {}

    def _query_features(self, texts: tf.Tensor, vectors: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        features = {**self._text_features.query_columns(texts), f.QUERY_TEXT: texts}
        return {**features, **self._vector_feature(f.QUERY_VECTOR, texts, vectors, "query")}

    def _document_features(self, texts: tf.Tensor, vectors: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        features = {**self._text_features.document_columns(texts), f.DOC_TEXT: texts}
        return {**features, **self._vector_feature(f.DOC_VECTOR, texts, vectors, "document")}

    def _vector_feature(
        self, name: str, texts: tf.Tensor, vectors: tf.Tensor | None, role: Role
    ) -> dict[str, tf.Tensor]:
        """Returns a column of `vectors`, else of vectors by the encoder in the graph; nothing without an encoder."""
        if vectors is None and self._encoder:
            vectors = self._encoder.vectors(texts, role)
        return {} if vectors is None else {name: vectors}


class _EncodingServer(_Server):
    """The server of a ranker whose score is an inner product."""

    def __init__(self, ranker: Ranker, *arguments: Any) -> None:
        super().__init__(ranker, *arguments)
        self._query_vector, self._document_vector = ranker.query_vector, ranker.document_vector
        self._word_shares = ranker.word_shares
        self._channel_name, channel = next(iter(ranker.sparse.items()), ("", None))
        self._channel: Callable[[], SparseInnerProduct | None] = lambda: channel  # a layer would be tracked

    def signatures(self) -> dict[str, Any]:
        return {**super().signatures(), "count_terms": self.count_terms, "explain_words": self.explain_words}

    def _functions(self) -> Iterator[tuple[str, Any, list[tf.TensorSpec]]]:
        yield from super()._functions()
        dim = self._record.dim if self._record else None
        for side, function in (("query", self._encode_query), ("document", self._encode_document)):
            specs = [tf.TensorSpec([None], tf.string, side), tf.TensorSpec([None, dim], tf.float32, f"{side}_vectors")]
            yield f"encode_{side}", function, specs

    def _encode_query(self, query: tf.Tensor, query_vectors: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """Returns vectors of queries, [batch, dim], and their terms, if a channel matches terms."""
        channel, vector = self._channel(), self._query_vector(self._query_features(query, query_vectors))
        return {"vector": vector, **(_padded(*channel.query_terms(query)) if channel else {})}

    def _encode_document(self, document: tf.Tensor, document_vectors: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """Returns vectors of documents, [batch, dim], and their terms, if a channel matches terms."""
        channel, vector = self._channel(), self._document_vector(self._document_features(document, document_vectors))
        return {"vector": vector, **(_padded(*channel.document_terms(document)) if channel else {})}

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string, name="document")])
    def count_terms(self, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the numbers of terms and of unknown terms in documents, each [batch]."""
        return term_counts(self._text_features, self._channel(), document)

    @graph_function(
        input_signature=[tf.TensorSpec([], tf.string, name="query"), tf.TensorSpec([], tf.string, name="document")]
    )
    def explain_words(self, query: tf.Tensor, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the words of both texts, their offsets, and the share of each word of the document."""
        channel, outputs = self._channel(), dict[str, tf.Tensor]()
        sides: tuple[tuple[str, tf.Tensor, Role], ...] = (("", document, "document"), ("query_", query, "query"))
        for prefix, text, role in sides:
            words = tokenize_with_offsets(text, self._text_features.rules)
            stem = channel.term_of(words.tokens, role) if channel else tf.zeros_like(words.tokens)
            columns = {"token": words.tokens, "start": words.start, "end": words.end, "stem": stem}
            outputs |= {f"{prefix}{name}": column for name, column in columns.items()}
        doc_columns, outputs["is_scored"] = scored_words(self._text_features, outputs["token"])
        query_features = {**self._text_features.query_columns(query[tf.newaxis]), f.QUERY_TEXT: query[tf.newaxis]}
        shares = self._word_shares(query_features, {**doc_columns, f.DOC_TEXT: outputs["token"]})
        if known := [share for share in shares.values() if share is not None]:
            outputs["dense"] = tf.add_n(known)
        outputs["without_shares"] = tf.constant([name for name, share in shares.items() if share is None], tf.string)
        return outputs


class _ExplainingServer(_EncodingServer):
    """The server of a ranker with a channel of words that match."""

    _channel: Callable[[], SparseInnerProduct]

    def signatures(self) -> dict[str, Any]:
        is_lexicon = isinstance(self._channel(), LexiconChannel)
        names = (*_TERM_SIGNATURES, *(_LEXICON_SIGNATURES if is_lexicon else ()))
        return {**super().signatures(), **{name: getattr(self, name) for name in names}}

    @graph_function(input_signature=[])
    def words_channel(self) -> dict[str, tf.Tensor]:
        """Returns the channel's name, and whether texts are segmented."""
        return {"name": tf.constant(self._channel_name), "segmented": tf.constant(self._text_features.rules.segmented)}

    @graph_function(
        input_signature=[tf.TensorSpec([], tf.string, name="query"), tf.TensorSpec([], tf.string, name="document")]
    )
    def explain(self, query: tf.Tensor, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the parts of the channel's score: the query's term, the document's term that answers it, its part."""
        return self._channel().parts(query, document)._asdict()

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string, name="document")])
    def own_terms(self, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the terms that documents hold themselves, and their weights, each [batch, width]."""
        return _padded(*self._channel().document_terms(document, own=True))

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string, name="query")])
    def known_share(self, query: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the share of the terms of queries that the channel knows, [batch]."""
        return {"share": self._channel().known_share(query)}

    @graph_function(input_signature=[])
    def collection_statistics(self) -> dict[str, tf.Tensor]:
        """Returns the statistics from which the weights of the channel's terms follow."""
        channel: Any = self._channel()
        statistics: CollectionStatistics = channel.statistics()
        return statistics._asdict()

    @graph_function(input_signature=[])
    def document_words(self) -> dict[str, tf.Tensor]:
        """Returns stems with the words that readers see in their place, each [words]."""
        channel: Any = self._channel()
        stems, words = channel.document_words()
        return {"stem": stems, "word": words}

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string, name="query")])
    def translate(self, query: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the translations of the terms of queries, each [entries]."""
        return self._channel().translations(query)._asdict()


def _padded(terms: tf.RaggedTensor, weights: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Returns terms and their weights as columns of equal width."""
    return {"stems": terms.to_tensor(""), "weights": weights.to_tensor(0.0)}


class ExportedEncoder(NamedTuple):
    """The pre-trained encoder of a model that is exported."""

    record: EncoderRecord
    graph: GraphEncoder | None
    """The encoder, which becomes a part of the model; None where callers give its vectors."""


def export_ranker(
    ranker: Ranker,
    text_features: TextFeatures,
    path: str,
    theta: Sequence[float] = (),
    encoder: ExportedEncoder | None = None,
    relevance: RelevanceShares | None = None,
    feedback: Feedback = FIRST_PASS,
    passages: PassageSettings | None = None,
) -> None:
    """Writes a ranker as a SavedModel with signatures on plain strings, and the digests of its files.

        score (serving_default)  query [batch], documents [batch, list_size] padded by ""
                                 -> scores [batch, list_size], and each channel's scores by its name
        encode_query             query [batch] -> vector [batch, dim], and with a channel of words that match
                                 stems, weights [batch, width], padded by "" and 0
        encode_document          document [batch] -> the same
        count_terms              document [batch] -> terms, unknown [batch]
        channel_weights          -> the weight of each channel by its name
        grade_bands              -> theta [thresholds]
        relevance                -> score, share [knots], no_answer_below, least_known_share, error_rate, queries
        feedback                 -> gain, documents of the second pass
        passages                 -> words, overlap, segmented
        explain_words            query, document -> token, start, end, stem, is_scored, dense [tokens],
                                 query_token, query_start, query_end, query_stem [query tokens]
        words_channel            -> name of the channel of words that match, segmented
        collection_statistics    -> documents, mean_length, and term, document_frequency [terms], from which its weights
                                 follow
        document_words           -> stem, word [words]: up to three words of each stem, for readers
        explain                  query, document -> query_term, document_term, part [entries]
        translate                query [batch] -> query_term, document_term, weight [entries]
        own_terms                document [batch] -> stems, weights [batch, width], as above, of the stems that the
                                 documents hold themselves
        known_share              query [batch] -> share [batch] of its terms that this channel knows

    `encode_query`, `encode_document`, `count_terms` (see `models.texts.text_features`) and `explain_words` exist if the
    score is an inner product (see `models.rankers.scorer`); those from `words_channel` on, if a channel matches words.
    The inner product of a query's vector and a document's is the weighted score of the dense channels, so any
    maximum-inner-product index can search them. The sum, over the stems of both texts, of the products of their weights
    is the score of words that match, so an inverted index ranks exactly as that channel does. Padding gets the
    scorer's `padded_score`: -1 for both cosines, below the lowest possible score for the dot product.

    `relevance` has the fields of `models.evaluation.relevance_shares.RelevanceShares`, and `feedback` those of
    `models.lists.feedback.Feedback`; they are missing without fitted shares, and without a second pass. `score` is the
    first pass: the second depends on the candidates, their ids and their `own_terms`.

    `explain_words` gives all words of both texts and their offsets (see `models.texts.token_offsets`); for each word of
    the document also whether it is within the limit on length, and `dense`, its share in the weighted score of the
    dense channels whose vectors are sums over words (`InnerProduct.word_vectors`). `dense` is missing without such a
    channel; `without_shares` names the other dense channels. `stem` is a word's term in the channel of words that
    match, "" without that channel.

    With a pre-trained encoder there are further signatures:

        text_encoder             -> record of the encoder, JSON
        score_with_vectors       the inputs of `score`, query_vectors [batch, dim],
                                 document_vectors [batch, list_size, dim] -> as `score`
        encode_query_with_vectors, encode_document_with_vectors
                                 likewise, with query_vectors or document_vectors [batch, dim]
        query_text_vectors, document_text_vectors
                                 query or document [batch] -> vectors [batch, dim] of the encoder itself

    Where the encoder is not in the graph, the signatures without vectors and the last two are missing, and
    `serving_default` is `score_with_vectors`.

    Args:
      ranker: built, with its weights.
      text_features: the training's own transformation.
      path: folder to write.
      theta: thresholds of the loss, on the scale of the vectors' part of the score; empty where there are none on it.
      encoder: the pre-trained encoder of a channel, if there is one.
      relevance: the shares of relevant documents by score, where they were fitted.
      feedback: the second pass over the ranker's scores.
      passages: the passages that the ranker was trained on; None for whole documents.
    """
    kind: type[_Server] = _Server
    if ranker.is_inner_product:
        kind = _ExplainingServer if ranker.sparse else _EncodingServer
    server = kind(ranker, text_features, theta, encoder, relevance, feedback, passages)
    signatures = server.signatures()
    default = signatures["score" if "score" in signatures else f"score{WITH_VECTORS}"]
    tf.saved_model.save(server, path, signatures={"serving_default": default, **signatures})
    write_sums(path)
