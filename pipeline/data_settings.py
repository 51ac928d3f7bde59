"""The settings of a run's data: files, or the dumps that they are made of."""

from pydantic import model_validator

from components.wikiclir_example_gen.settings import DataSettings
from components.wikipedia_gen.settings import WikipediaSettings


class SourceSettings(DataSettings):
    """The collection: WikiCLIR files (see docs/formats.md), plain or gzipped, or dumps (see docs/wikipedia.md)."""

    wikipedia: WikipediaSettings | None = None
    """Dumps of the wikis of both languages, of which a first stage makes queries, documents and judgments; the three
    are null then."""

    @model_validator(mode="after")
    def _dumps_have_the_pair(self) -> "SourceSettings":
        if self.wikipedia and (missing := self.wikipedia.missing_for(self.query_language, self.document_language)):
            raise ValueError(f"wikipedia.{missing}")
        return self
