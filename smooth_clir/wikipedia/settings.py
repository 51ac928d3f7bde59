"""Settings of a collection from Wikipedia's dumps. Importing this file does not import TensorFlow or Beam."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from schemas.languages import LANGUAGES
from schemas.settings import InputPath, Settings, did_you_mean


class WikiFiles(Settings):
    """The dump files of a wiki from https://dumps.wikimedia.org: plain, gzipped or bzipped."""

    pages: Annotated[str, Field(min_length=1), InputPath("dump")]
    """Path of the pages (`...-pages-articles.xml.bz2`, multistream or not, or content-file exports), or a pattern of
    the numbered parts of a dump."""
    language_links: Annotated[str | None, InputPath("dump")] = None
    """Path of this wiki's `...-langlinks.sql.gz`. Required for one of the two wikis, unless `sitelinks` is given."""
    redirects: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-redirect.sql.gz`, the source of redirects; null takes them from the pages."""
    page_links: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-pagelinks.sql.gz`, the source of links, including those in templates; null takes them from the
    pages' wikitext."""
    link_targets: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-linktarget.sql.gz`, the titles of the page links, which dumps since 2024 name by numbers."""

    @field_validator("link_targets")
    @classmethod
    def _check_link_targets(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is not None and info.data.get("page_links") is None:
            raise ValueError(f"must be null without page_links, which alone needs it; got {path!r}")
        return path


class WikipediaSettings(Settings):
    """Settings of the construction of queries, documents and judgments from dumps. See docs/wikipedia.md."""

    wikis: Annotated[dict[str, WikiFiles], Field(min_length=1)]
    """The dump files of each wiki, by its language code."""
    sitelinks: Annotated[str | None, InputPath("dump")] = None
    """Path of Wikidata's sitelinks (item, wiki, title, separated by tabs; or `...-wb_items_per_site.sql.gz`), which
    connect pages about the same thing that language links do not connect."""
    queries: Literal["first_sentence", "sentences", "text"] = "first_sentence"
    """The queries of a page: the first sentence of its lead, as in the paper; each sentence of the lead; or its text,
    like a document's, for ranking documents by documents."""
    removed_words: Literal["title", "title_and_redirects"] = "title"
    """The words that are removed from a page's queries: those of its title, or also those of the redirects to it."""
    max_words: Annotated[int, Field(ge=1, lt=2**31)] = 200
    """Largest number of words of a document, or of a text as a query; the rest is cut off. In scripts written without
    spaces, two Han characters count as one word, and so do two pairs of consecutive kana, or three of Thai, Lao, Khmer
    or Burmese characters."""
    min_query_words: Annotated[int, Field(ge=1, lt=2**31)] = 3
    """Smallest number of words of a query, counted like `max_words`, after the removal of words."""
    min_document_words: Annotated[int, Field(ge=1, lt=2**31)] = 10
    """Smallest number of words of a document, counted like `max_words`."""
    drop_disambiguations: bool = True
    """Whether to leave out pages that list the meanings of a title."""
    drop_lists: bool = False
    """Whether to leave out pages whose titles are those of lists."""
    max_somewhat_relevant: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Largest number of SR documents of a query, drawn by a hash of both ids; null takes all."""
    max_query_pages: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Largest number of pages with queries, drawn by a hash of their ids; null takes all with an MR document. The paper
    takes 25,000. Fewer pages leave more titles for a lexicon to learn from."""
    negatives: Annotated[int, Field(ge=1, lt=2**31)] = 40
    """Number of NR documents drawn for each query of a wiki paired with itself; for other pairs, the run draws them."""
    max_bad_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Largest share of bad pages of a wiki; with more, no collection is made."""
    shards: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of files of documents, and of queries."""

    @field_validator("wikis")
    @classmethod
    def _check_languages(cls, wikis: dict[str, WikiFiles]) -> dict[str, WikiFiles]:
        for language in wikis:
            if language not in LANGUAGES:
                hint = did_you_mean(language, LANGUAGES)
                raise ValueError(f"must be named by ISO 639-1 codes (two letters); got {language!r}{hint}")
        return wikis

    def missing_for(self, query_language: str, document_language: str) -> str | None:
        """Returns an error message if a pair of languages lacks a wiki or a source of matching pages, or None."""
        for language in (query_language, document_language):
            if language not in self.wikis:
                return f"wikis must hold {language}; got {', '.join(sorted(self.wikis))}"
        sources = (self.wikis[query_language].language_links, self.wikis[document_language].language_links)
        if query_language != document_language and not any((*sources, self.sitelinks)):
            return (
                f"wikis.{query_language}.language_links, wikis.{document_language}.language_links or sitelinks must be "
                "given, to connect the pages of two wikis about the same thing"
            )
        return None
