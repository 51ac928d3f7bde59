"""Small lexicons, random ones and one of the sample, and what their channels score."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from hypothesis import strategies as st

from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import Kind, Lexicon
from models.lexicon.settings import MatchingSettings
from models.lexicon.terms import terms_of
from models.rankers.sparse_inner_product import SparseInnerProduct
from models.texts.tokens import ALL_WORDS
from tests.models.lexicon.reference import TEXTS, Reference, Table, Text, translations

SAMPLE: Final = Path(__file__).parents[3] / "data" / "sample"
LANGUAGES: Final = ("en", "fr")
RULES: Final = ALL_WORDS

COLLECTIONS: Final = st.lists(TEXTS, max_size=6)


def join(texts: list[Text]) -> list[str]:
    """Texts of which these are the terms."""
    return [" ".join(text) for text in texts]


def learn(pairs: list[tuple[Text, Text]], documents: list[Text], kind: Kind = "lexicon") -> Lexicon:
    """The lexicon of texts that are given as terms."""
    texts = [(" ".join(query), " ".join(document)) for query, document in pairs]
    return learn_lexicon(kind, LANGUAGES, RULES, texts, join(documents))


def make_channel(lexicon: Lexicon) -> SparseInnerProduct:
    """The channel of a lexicon, named by its kind."""
    channel: SparseInnerProduct = MatchingSettings.kinds[lexicon.record.kind].load()(lexicon, name=lexicon.record.kind)
    return channel


def channel_and_reference(
    pairs: list[tuple[Text, Text]], documents: list[Text]
) -> tuple[SparseInnerProduct, Reference]:
    """The channel that is learned, and what it is compared with."""
    return make_channel(learn(pairs, documents)), Reference(documents, translations(pairs))


def table_of(lexicon: Lexicon) -> Table:
    """A, by terms."""
    table: dict[str, dict[str, float]] = {}
    entries = lexicon.translations.tocoo()
    for row, column, weight in zip(entries.row, entries.col, entries.data, strict=True):
        table.setdefault(lexicon.terms[row].decode(), {})[lexicon.terms[column].decode()] = float(weight)
    return table


def scores(channel: SparseInnerProduct, queries: list[str], documents: list[str]) -> npt.NDArray[np.float32]:
    """The score of every document for every query: [queries, documents]."""
    index = np.tile(np.arange(len(documents), dtype=np.int32), (len(queries), 1))
    scored: npt.NDArray[np.float32] = channel.score_texts(features(queries, documents, index)).numpy()
    return scored


def features(queries: list[str], documents: list[str], index: Any) -> dict[str, tf.Tensor]:
    """Texts as a scorer takes them."""
    return {
        "query_text": tf.constant(queries, tf.string),
        "doc_text": tf.constant(documents, tf.string),
        "document_index": tf.constant(index, tf.int32),
    }


def terms(texts: list[str], language: str, kind: Kind = "lexicon") -> list[Text]:
    """The terms of real texts."""
    return [[term.decode() for term in row] for row in terms_of(texts, kind, language, RULES).texts().to_list()]


def sample_texts() -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs (query, MR document) and documents of the sample."""

    def texts(name: str) -> dict[str, str]:
        lines = (SAMPLE / name).read_text(encoding="utf-8").splitlines()
        return {identifier: text for identifier, _, text in (line.split("\t") for line in lines)}

    queries, documents = texts("wiki_en.queries"), texts("wiki_fr.documents")
    judgments = (line.split("\t") for line in (SAMPLE / "en2fr.rel").read_text(encoding="utf-8").splitlines())
    pairs = [(queries[query], documents[document]) for query, document, grade in judgments if grade == "2"]
    return pairs, list(documents.values())
