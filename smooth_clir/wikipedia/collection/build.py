"""Makes the collection of one pair of wikis from their dumps."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas import file_system
from schemas.wikiclir import CARD_FILE, MANIFEST_FILE, PAIRS_FILE
from smooth_clir.wikipedia.collection.leaks import near_duplicates
from smooth_clir.wikipedia.collection.links import mutual_links, unpack_links
from smooth_clir.wikipedia.collection.manifest import data_card, make_manifest, manifest_text
from smooth_clir.wikipedia.collection.names import title_pairs
from smooth_clir.wikipedia.collection.read_dumps import Dumps
from smooth_clir.wikipedia.collection.read_tables import Pairs, TableRead, read_pairs
from smooth_clir.wikipedia.collection.relevance import (
    Counterparts,
    Relevance,
    find_counterparts,
    relevance_across_wikis,
    relevance_within_wiki,
)
from smooth_clir.wikipedia.collection.wiki import MISSING
from smooth_clir.wikipedia.collection.write_pair import ArticleReason, Fault, PairWriter, Written
from smooth_clir.wikipedia.settings import WikipediaSettings


def build_collection(
    languages: tuple[str, str], settings: WikipediaSettings, dumps: Dumps, folder: str
) -> dict[str, Any]:
    """Writes the queries, documents, judgments, title pairs, manifest and card of a pair of wikis.

    Args:
      languages: the query and the document language; the same for a wiki paired with itself.
      settings: how dumps become a collection.
      dumps: the content of the dumps.
      folder: the folder to write to.

    Returns:
      the content of the manifest.
    """
    queries, documents = (dumps.wikis[language] for language in languages)
    writer = PairWriter(languages, settings, queries.articles, documents.articles, queries.names, folder)
    writer.write_documents(documents.texts)
    counterparts, relevance, faults = _relevance(languages, dumps, writer.is_document)
    writer.write_queries(queries.texts, relevance, faults)
    pairs = _write_title_pairs(languages, dumps, counterparts, writer.written, folder)
    duplicates = near_duplicates(
        documents.articles.signatures,
        np.array(sorted(writer.written.held_out_documents), np.int64),
        np.array(sorted(writer.written.train_documents), np.int64),
    )
    names = documents.names
    shared = [(names.title(held_out), names.title(trained)) for held_out, trained in duplicates]
    manifest = make_manifest(languages, settings, dumps, writer.written, counterparts, pairs, shared)
    for name, content in ((MANIFEST_FILE, manifest_text(manifest)), (CARD_FILE, data_card(manifest))):
        with file_system.open_file(os.path.join(folder, name), "wb") as file:
            file.write(content.encode())
    return manifest


def _relevance(
    languages: tuple[str, str], dumps: Dumps, is_document: npt.NDArray[np.bool_]
) -> tuple[Counterparts | None, Relevance, list[Fault]]:
    """Returns the counterparts, the relevant documents, and the articles without relevant documents, by reason."""
    queries, documents = (dumps.wikis[language] for language in languages)
    if languages[0] == languages[1]:
        sources, targets = unpack_links(mutual_links(documents.links))
        linked = np.zeros(len(documents.articles), np.bool_)
        linked[sources[is_document[targets]]] = True
        return None, relevance_within_wiki(documents.links, is_document), [(~linked, ArticleReason.NO_MUTUAL_LINK)]

    def parts(tables: Mapping[tuple[str, str], TableRead], pair: tuple[str, str]) -> Iterable[Pairs]:
        return read_pairs(tables[pair]) if pair in tables else ()

    counterparts = find_counterparts(
        queries.articles,
        documents.articles,
        parts(dumps.language_links, languages),
        parts(dumps.language_links, languages[::-1]),
        parts(dumps.sitelinks, languages),
    )
    has_counterpart = counterparts.documents != MISSING
    left_out = np.zeros(len(has_counterpart), np.bool_)
    left_out[has_counterpart] = ~is_document[counterparts.documents[has_counterpart]]
    faults = [
        (~has_counterpart & ~counterparts.is_lost, ArticleReason.NO_LANGUAGE_LINK),
        (counterparts.is_lost, ArticleReason.LOST_LANGUAGE_LINK),
        (left_out, ArticleReason.MR_LEFT_OUT),
    ]
    return counterparts, relevance_across_wikis(counterparts, documents.links, is_document), faults


def _write_title_pairs(
    languages: tuple[str, str],
    dumps: Dumps,
    counterparts: Counterparts | None,
    written: Written,
    folder: str,
) -> int:
    """Writes the dictionary of titles; returns the number of its pairs."""
    if counterparts is None:
        return 0
    queries, documents = (dumps.wikis[language].names for language in languages)
    known = np.flatnonzero(counterparts.documents != MISSING).tolist()
    pairs = [(query, int(counterparts.documents[query])) for query in known]
    # A page with several queries may have queries in each split. Pages with a train query are not held out.
    held_out = {query for query in written.held_out_queries if query not in written.train_queries}
    count = 0
    with file_system.open_file(os.path.join(folder, PAIRS_FILE), "wb") as file:
        for pair in title_pairs(queries, documents, pairs, held_out):
            file.write("\t".join(pair).encode() + b"\n")
            count += 1
    return count
