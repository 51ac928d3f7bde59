"""Learns a lexicon: translations from pairs of texts, and statistics of a collection."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from models.batches import batches
from models.lexicon.count_terms import CountTerms, from_fixed, grown
from models.lexicon.lexicon import CollectionRecord, Kind, Lexicon
from models.lexicon.model_1 import learn_translations
from models.lexicon.term_counter import TermCounter
from schemas.sharded_texts import Text, each_shard

_BATCH = 4096


def learn_lexicon(
    kind: Kind,
    languages: tuple[str, str],
    max_tokens: int,
    pairs: Iterable[tuple[Text, Text]],
    collection: Iterable[Text],
) -> Lexicon:
    """Learns a lexicon.

    With A of `models.lexicon.model_1` and T = max(A, identity), a collection has for each term q

        tf'(q, d) = sum over w of T[q, w] tf(w, d)
        df'(q) = sum over d of min(1, tf'(q, d))

    Args:
      kind: only `lexicon` has translations, and of the others A is 0.
      languages: ISO 639-1 codes of queries and documents.
      max_tokens: words of a text that count.
      pairs: texts of queries and of documents that say the same.
      collection: the text of every document; `ShardedTexts` are counted shard by shard.
    """
    counter = TermCounter(kind, max_tokens)
    translations = _translations(counter, languages, pairs) if kind == "lexicon" else sparse.csr_matrix((0, 0))
    # What a term of a document adds to tf' of other terms.
    added = (translations - sparse.diags(translations.diagonal())).T.tocsr()
    count = CountTerms(kind, languages[1], max_tokens, counter.terms, added)
    documents = length = 0
    frequency = np.zeros((2, 0), np.int64)
    for part in each_shard(collection, count):
        documents += part.documents
        length += part.length
        numbers = counter.numbers(part.terms)
        frequency = grown(frequency, len(counter.terms))
        frequency[:, numbers] += part.frequency
    # No text holds the empty term: it stands for none, for a vocabulary has one.
    terms = counter.terms or [b""]
    order = _order(terms)
    translations.resize((len(terms), len(terms)))
    record = CollectionRecord(
        kind=kind,
        query_language=languages[0],
        document_language=languages[1],
        max_tokens=max_tokens,
        documents=documents,
        mean_length=length / max(documents, 1),
    )
    return Lexicon(
        record,
        [terms[place] for place in order],
        from_fixed(grown(frequency, len(terms)))[order],
        translations[order][:, order],
    )


def _translations(
    counter: TermCounter, languages: tuple[str, str], pairs: Iterable[tuple[Text, Text]]
) -> sparse.csr_matrix:
    """A, of the terms that have been met so far. A document that stands in several pairs is counted once."""
    row_of_document: dict[bytes, int] = {}
    queries, documents, rows = [], [], []
    for batch in batches(pairs, _BATCH):
        queries.append(counter.count([query for query, _ in batch], languages[0]))
        new = []
        for _, document in batch:
            key = hashlib.blake2b(document.encode() if isinstance(document, str) else document, digest_size=16).digest()
            if key not in row_of_document:
                row_of_document[key] = len(row_of_document)
                new.append(document)
            rows.append(row_of_document[key])
        documents.append(counter.count(new, languages[1]))
    size = len(counter.terms)
    if not rows:
        return sparse.csr_matrix((size, size))
    for part in (*queries, *documents):
        part.resize((part.shape[0], size))
    of_pair = sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, np.arange(len(rows)))))
    distinct = sparse.vstack(queries, format="csr")
    distinct.data[:] = 1
    # Equal shares are ordered by the order of the terms, which must not be that of the pairs.
    order = _order(counter.terms)
    back = np.argsort(order)
    shares = learn_translations((of_pair @ distinct).T.tocsr()[order], sparse.vstack(documents, format="csr")[:, order])
    return shares[back][:, back]


def _order(terms: Sequence[bytes]) -> list[int]:
    """The places of terms, sorted by their UTF-8."""
    return sorted(range(len(terms)), key=terms.__getitem__)
