"""Writes the queries, documents and judgments of two wikis, and accounts for every article."""

import bisect
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas import file_system
from schemas.drops import Drop, DropCounter, DropReason
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT
from schemas.splits import split_of, stable_hash
from schemas.wikiclir import CANDIDATES_FILE, documents_file, judgments_file, queries_file
from smooth_clir.wikipedia.collection.leaks import QueryAudit
from smooth_clir.wikipedia.collection.names import Names
from smooth_clir.wikipedia.collection.relevance import Relevance, capped
from smooth_clir.wikipedia.collection.wiki import Articles
from smooth_clir.wikipedia.settings import WikipediaSettings
from smooth_clir.wikipedia.wikitext.article import KINDS
from smooth_clir.wikipedia.wikitext.words import count_words, without_title


class ArticleReason(DropReason):
    """Why an article is not a document, or has no query; the first valid reason counts."""

    DISAMBIGUATION = ("disambiguation page (drop_disambiguations)", False)
    LIST = ("list (drop_lists)", False)
    NO_LANGUAGE_LINK = ("no link to the other language", False)
    LOST_LANGUAGE_LINK = ("the page that it links to in the other language is not in the dump", False)
    NO_MUTUAL_LINK = ("no page that it links to links back", False)
    SHORT_DOCUMENT = ("text shorter than min_document_words", False)
    MR_LEFT_OUT = ("its MR document is left out", False)
    NOT_DRAWN = ("not among those drawn (max_query_pages)", False)
    NO_LEAD = ("no sentence above the first heading", False)
    SHORT_QUERY = ("queries shorter than min_query_words without the title's words", False)


_REASONS: Final = tuple(ArticleReason)
_USED: Final = 0

Fault = tuple[npt.NDArray[np.bool_], ArticleReason]
"""[articles], whether an article must be left out, and the reason."""

Texts = Callable[[], Iterable[list[str]]]
"""Yields the texts of each article of a wiki: title, text, and the sentences of its lead."""


class Example(NamedTuple):
    """A query as an example."""

    drawn: int
    query_id: str
    title: str
    text: str
    grades: Mapping[int, int]


EXAMPLES: Final = 20


@dataclass
class Written:
    """The account of the written queries and documents of two wikis.

    Attributes:
      pages: articles of the queries' wiki with a query.
      no_pages: the other articles of the queries' wiki.
      documents: articles of the documents' wiki that are documents.
      no_documents: the other articles of the documents' wiki.
      queries: the written queries of all pages.
      short_queries: sentences that were too short, from pages with other queries.
      judgments: grade to the number of judgments.
      splits: split to the number of its queries.
      query_words, document_words: length in words (`count_words`) to the number of queries, or documents.
      held_out_queries: articles with queries in the eval and test splits, in order.
      train_queries: articles with queries in the train split.
      held_out_documents: the relevant documents of the eval and test queries.
      train_documents: MR documents of train queries.
      audit: the audit of the queries.
      examples: queries drawn by a hash of their ids, with the articles of their documents and the grades.
    """

    pages: int = 0
    no_pages: DropCounter = field(default_factory=DropCounter)
    documents: int = 0
    no_documents: DropCounter = field(default_factory=DropCounter)
    queries: int = 0
    short_queries: int = 0
    judgments: Counter[int] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    query_words: Counter[int] = field(default_factory=Counter)
    document_words: Counter[int] = field(default_factory=Counter)
    held_out_queries: list[int] = field(default_factory=list)
    train_queries: set[int] = field(default_factory=set)
    held_out_documents: set[int] = field(default_factory=set)
    train_documents: set[int] = field(default_factory=set)
    audit: QueryAudit = field(default_factory=QueryAudit)
    examples: list[Example] = field(default_factory=list)


class PairWriter:
    """Writes the files of a pair of wikis.

    Args:
      languages: the query and the document language.
      settings: how dumps become a collection.
      queries, documents: the articles of the two wikis; equal for a wiki paired with itself.
      names: the names in the queries' wiki.
      folder: the folder to write to.
    """

    def __init__(
        self,
        languages: tuple[str, str],
        settings: WikipediaSettings,
        queries: Articles,
        documents: Articles,
        names: Names,
        folder: str,
    ) -> None:
        self._languages = languages
        self._settings = settings
        self._queries = queries
        self._documents = documents
        self._names = names
        self._folder = folder
        self.written = Written()
        short = documents.words < settings.min_document_words
        self._document_reasons = self._reasons(documents, ((short, ArticleReason.SHORT_DOCUMENT),))
        self._document_rows = np.flatnonzero(self.is_document)

    @property
    def is_document(self) -> npt.NDArray[np.bool_]:
        """[articles of the documents' wiki], whether an article is a document."""
        is_document: npt.NDArray[np.bool_] = self._document_reasons == _USED
        return is_document

    def write_documents(self, texts: Texts) -> None:
        """Writes the documents, in the dump's order; a document's id is its page id."""
        written, language, page_ids = self.written, self._languages[1], self._documents.page_ids
        with self._file(documents_file(language), int(self.is_document.sum())) as file:
            for article, (title, text, *_) in enumerate(texts()):
                reason = _reason(self._document_reasons[article])
                if reason is not None:
                    written.no_documents.add(Drop(reason, language, int(page_ids[article]), title))
                    continue
                written.document_words[int(self._documents.words[article])] += 1
                file.write(written.documents, f"{page_ids[article]}\t{title}\t{text}")
                written.documents += 1

    def write_queries(self, texts: Texts, relevance: Relevance, faults: Iterable[Fault]) -> None:
        """Writes the queries and their judgments, in the dump's order.

        Args:
          texts: the texts of the queries' wiki.
          relevance: the relevant documents.
          faults: the articles without a query, besides those of a dropped kind; the first valid reason counts.
        """
        reasons = self._reasons(self._queries, faults)
        candidates, max_pages = np.flatnonzero(reasons == _USED), self._settings.max_query_pages
        if max_pages is not None and len(candidates) > max_pages:
            drawn = [stable_hash("page", str(page_id)) for page_id in self._queries.page_ids[candidates].tolist()]
            order = np.argsort(np.array(drawn, np.uint64), kind="stable")
            reasons[candidates[order[max_pages:]]] = ArticleReason.NOT_DRAWN.position + 1
        pages, page = int((reasons == _USED).sum()), -1
        query_language, document_language = self._languages
        names = [queries_file(query_language), judgments_file(query_language, document_language)]
        if query_language == document_language:
            names.append(CANDIDATES_FILE)
        with ExitStack() as stack:
            files = _Files(*(stack.enter_context(self._file(name, pages)) for name in names))
            for article, fields in enumerate(texts()):
                reason = _reason(reasons[article])
                if reason is None:
                    page += 1
                    grades = capped(relevance(article), self._settings.max_somewhat_relevant, article)
                    reason = self._write_page(page, article, fields, grades, files)
                if reason is None:
                    self.written.pages += 1
                else:
                    drop = Drop(reason, query_language, int(self._queries.page_ids[article]), fields[0])
                    self.written.no_pages.add(drop)

    def _write_page(
        self, page: int, article: int, fields: list[str], grades: Mapping[int, int], files: "_Files"
    ) -> ArticleReason | None:
        """Writes the queries of an article, or returns the reason why it has no queries."""
        written, settings, (title, text, *lead) = self.written, self._settings, fields
        own_texts = {"first_sentence": lead[:1], "sentences": lead, "text": [text]}[settings.queries]
        if not any(own_texts):
            return ArticleReason.NO_LEAD
        redirects = self._names.redirects(article)
        removed = [title, *redirects] if settings.removed_words == "title_and_redirects" else [title]
        texts = [without_title(text, removed) for text in own_texts]
        counted = [(text, words) for text in texts if (words := count_words(text)) >= settings.min_query_words]
        written.short_queries += len(texts) - len(counted)
        if not counted:
            return ArticleReason.SHORT_QUERY
        doc_ids = {document: int(self._documents.page_ids[document]) for document in grades}
        for text, words in counted:
            written.queries += 1
            query_id = str(written.queries if settings.queries == "sentences" else self._queries.page_ids[article])
            split = split_of(query_id)
            written.splits[split] += 1
            written.query_words[words] += 1
            written.judgments.update(grades.values())
            written.audit.add(text, title, redirects)
            self._hold_out(article, grades, split)
            self._add_example(Example(stable_hash("example", query_id), query_id, title, text, grades))
            files.queries.write(page, f"{query_id}\t{title}\t{text}")
            for document, grade in grades.items():
                files.judgments.write(page, f"{query_id}\t{doc_ids[document]}\t{grade}")
            if files.lists is not None:
                rows = [(doc_ids[document], grade) for document, grade in grades.items()]
                rows += [(doc_id, NOT_RELEVANT) for doc_id in self._negatives(query_id, article, grades)]
                for doc_id, grade in rows:
                    files.lists.write(page, f"{query_id}\t{doc_id}\t{grade}\t{split}")
        return None

    def _hold_out(self, article: int, grades: Mapping[int, int], split: str) -> None:
        written = self.written
        if split == "train":
            written.train_queries.add(article)
            written.train_documents.update(document for document, grade in grades.items() if grade == MOST_RELEVANT)
            return
        if not written.held_out_queries or written.held_out_queries[-1] != article:
            written.held_out_queries.append(article)
        written.held_out_documents.update(grades)

    def _add_example(self, example: Example) -> None:
        examples = self.written.examples
        if len(examples) < EXAMPLES or example.drawn < examples[-1].drawn:
            bisect.insort(examples, example, key=lambda example: example.drawn)
            del examples[EXAMPLES:]

    def _negatives(self, query_id: str, article: int, grades: Mapping[int, int]) -> Iterator[int]:
        """Yields the ids of NR documents, never the query's own page."""
        generator = random.Random(stable_hash("negatives", query_id))
        left_out = {article, *grades}
        # Draws a few more than needed, because some may be left out.
        count = min(self._settings.negatives + len(left_out), len(self._document_rows))
        drawn = self._document_rows[generator.sample(range(len(self._document_rows)), count)].tolist()
        negatives = [document for document in drawn if document not in left_out][: self._settings.negatives]
        yield from self._documents.page_ids[negatives].tolist()

    def _reasons(self, articles: Articles, faults: Iterable[Fault]) -> npt.NDArray[np.uint8]:
        """Returns why each article is left out, [articles]: `_USED`, or 1 + the index of the first valid reason."""
        reasons = np.full(len(articles), _USED, np.uint8)
        for kind, reason, is_dropped in (
            ("disambiguation", ArticleReason.DISAMBIGUATION, self._settings.drop_disambiguations),
            ("list", ArticleReason.LIST, self._settings.drop_lists),
        ):
            if is_dropped:
                reasons[articles.kinds == KINDS.index(kind)] = reason.position + 1
        for holds, reason in faults:
            reasons[(reasons == _USED) & holds] = reason.position + 1
        return reasons

    def _file(self, name: str, pages: int) -> "ShardedFile":
        return ShardedFile(self._folder, name, self._settings.shards, pages)


def _reason(code: int) -> ArticleReason | None:
    return None if code == _USED else _REASONS[code - 1]


class ShardedFile:
    """Writes lines into a file, or into several files with about equally many records.

    Args:
      folder: the folder of the files.
      name: the name of a single file; several files are called `name-00000-of-00004`.
      shards: the number of files; even empty files are made.
      records: the expected number of records.
    """

    def __init__(self, folder: str, name: str, shards: int, records: int) -> None:
        names = [name] if shards == 1 else [f"{name}-{shard:05}-of-{shards:05}" for shard in range(shards)]
        self._paths = [os.path.join(folder, name) for name in names]
        self._records = max(records, 1)
        self._files: list[Any] = []

    def __enter__(self) -> "ShardedFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._move_to(len(self._paths) - 1)
        if self._files:
            self._files[-1].close()

    def write(self, record: int, line: str) -> None:
        """Writes a line.

        Args:
          record: the number of the line's record, from 0, in rising order.
          line: the line, without its end.
        """
        self._move_to(record * len(self._paths) // self._records)
        self._files[-1].write(line.encode() + b"\n")

    def _move_to(self, shard: int) -> None:
        while len(self._files) <= shard:
            if self._files:
                self._files[-1].close()
            self._files.append(file_system.open_file(self._paths[len(self._files)], "wb"))


class _Files(NamedTuple):
    """The files of the queries."""

    queries: ShardedFile
    judgments: ShardedFile
    lists: ShardedFile | None = None
