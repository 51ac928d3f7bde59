"""Settings of a collection from Wikipedia's dumps. Importing this file does not import TensorFlow or Beam."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from schemas.languages import LANGUAGES
from schemas.settings import InputPath, Settings, did_you_mean


class WikiFiles(Settings):
    """The dump files of one wiki, as https://dumps.wikimedia.org has them: plain, gzipped or bzipped."""

    pages: Annotated[str, Field(min_length=1), InputPath("dump")]
    """Path of the pages (`...-pages-articles.xml.bz2`, multistream or not, or content-file exports), or a pattern of
    the numbered parts of one dump."""
    language_links: Annotated[str | None, InputPath("dump")] = None
    """Path of this wiki's `...-langlinks.sql.gz`. One of the two wikis must have it, or `sitelinks` be given."""
    redirects: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-redirect.sql.gz`, of which redirects are taken; null takes them of the pages."""
    page_links: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-pagelinks.sql.gz`, of which links are taken, those of templates too; null takes them of the pages'
    wikitext."""
    link_targets: Annotated[str | None, InputPath("dump")] = None
    """Path of `...-linktarget.sql.gz`, whose titles the page links of dumps since 2024 name by numbers."""

    @field_validator("link_targets")
    @classmethod
    def _targets_are_of_links(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is not None and info.data.get("page_links") is None:
            raise ValueError(f"must be null where page_links is null: nothing else needs it; got {path!r}")
        return path


class WikipediaSettings(Settings):
    """How dumps become queries, documents and judgments. See docs/wikipedia.md."""

    wikis: Annotated[dict[str, WikiFiles], Field(min_length=1)]
    """The dump files of each wiki, by its language code."""
    sitelinks: Annotated[str | None, InputPath("dump")] = None
    """Path of Wikidata's sitelinks (item, wiki, title, separated by tabs; or `...-wb_items_per_site.sql.gz`), which say
    which pages are of one thing where language links do not."""
    queries: Literal["first_sentence", "sentences", "text"] = "first_sentence"
    """What a page's queries are: the first sentence of its lead, as in the paper; each sentence of the lead; or its
    text, like a document's, for ranking documents by documents."""
    removed_words: Literal["title", "title_and_redirects"] = "title"
    """The words that are taken out of a page's queries: its title's, or those of the redirects to it, too."""
    max_words: Annotated[int, Field(ge=1, lt=2**31)] = 200
    """Words of a document, or of a text as a query, beyond this number are cut off."""
    min_query_words: Annotated[int, Field(ge=1, lt=2**31)] = 3
    """A query with fewer words, once the title's are removed, is left out."""
    min_document_words: Annotated[int, Field(ge=1, lt=2**31)] = 10
    """A document with fewer words is left out."""
    drop_disambiguations: bool = True
    """Leave out pages that list what a title may mean."""
    drop_lists: bool = False
    """Leave out pages that are lists by their titles."""
    max_somewhat_relevant: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """SR documents of a query at most, drawn by a hash of both ids; null takes all."""
    max_query_pages: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Take queries of so many pages at most, drawn by a hash of their ids; null takes all that have an MR document. The
    paper takes 25,000. The fewer, the more titles are left for a lexicon to learn from."""
    negatives: Annotated[int, Field(ge=1, lt=2**31)] = 40
    """NR documents drawn for each query of a wiki that is paired with itself: a run draws those of others."""
    max_bad_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Nothing is made when more than this share of the pages of a wiki is bad."""
    shards: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Files of documents, and of queries."""

    @field_validator("wikis")
    @classmethod
    def _languages_are_known(cls, wikis: dict[str, WikiFiles]) -> dict[str, WikiFiles]:
        for language in wikis:
            if language not in LANGUAGES:
                hint = did_you_mean(language, LANGUAGES)
                raise ValueError(f"must be named by ISO 639-1 codes (two letters); got {language!r}{hint}")
        return wikis

    def missing_for(self, query_language: str, document_language: str) -> str | None:
        """What a pair of languages lacks, if anything: a wiki, or what says which of their pages are of one thing."""
        for language in (query_language, document_language):
            if language not in self.wikis:
                return f"wikis must hold {language}; it holds {', '.join(sorted(self.wikis))}"
        sources = (self.wikis[query_language].language_links, self.wikis[document_language].language_links)
        if query_language != document_language and not any((*sources, self.sitelinks)):
            return (
                f"wikis.{query_language}.language_links, wikis.{document_language}.language_links or sitelinks must be "
                "given: nothing else says which pages of two wikis are of one thing"
            )
        return None
