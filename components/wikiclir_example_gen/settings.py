"""Settings of the data. Importing this file does not import TensorFlow or Beam."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from schemas.languages import LANGUAGES
from schemas.settings import InputPath, Settings, did_you_mean

_TEXTS: Final = ("queries", "documents", "judgments")


class InputDigests(Settings):
    """SHA-256 of the input files, in hexadecimal; of several, that of their own, a line each. A resolved configuration
    holds them, and a rerun checks them."""

    queries: str | None = None
    """Of `data.queries`."""
    documents: str | None = None
    """Of `data.documents`."""
    judgments: str | None = None
    """Of `data.judgments`."""
    candidates: str | None = None
    """Of `data.candidates`."""
    wikipedia: dict[str, str] = {}
    """Of the dumps of `data.wikipedia`, by their keys in it."""


class DataSettings(Settings):
    """The collection, as WikiCLIR files (see docs/formats.md), plain or gzipped."""

    queries: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the queries: query_id, title, text; of one file, or a pattern (`*`, `?`, `[…]`) of several."""
    documents: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the documents, likewise: doc_id, title, text."""
    judgments: Annotated[str | None, Field(min_length=1), InputPath("collection")]
    """Path of the judgments, likewise: query_id, doc_id, grade."""
    top_grade: Annotated[int, Field(ge=1, le=100)] = 2
    """The grade of MR documents; grades are 0 .. this. A loss may weigh a grade by 2^grade, in float32."""
    candidates: Annotated[str | None, InputPath("collection")] = None
    """Path of fixed lists, likewise: query_id, doc_id, grade, split. Null samples NR documents, and hashes the
    splits."""
    wikipedia: Settings | None = None
    """The dumps of which queries, documents and judgments are made; the three are null then, and so is `candidates`."""
    negatives: Annotated[int, Field(ge=1, lt=2**31)] = 40
    """NR documents sampled for a query; unused with `candidates`."""
    most_sampled: Annotated[int, Field(ge=1, lt=2**31)] = 4_000_000
    """NR documents are drawn from at most so many documents: of a larger collection those with the least seeded hashes
    of their ids, of a smaller one all. Every worker of a Beam runner holds the ids of these."""
    used_negatives: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Use only the first so many NR documents of every list, in all splits, in the order in which they were drawn, or
    stand in `candidates`; null uses all. No data stage runs again for another number."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seeds the NR documents of every query, and the choice of the cold groups."""
    split: Literal["queries", "documents"] = "queries"
    """What is divided among the splits: queries, as in the paper, whose documents training may have seen with other
    queries; or documents, in groups: those that are relevant to one query stay together, and queries go where their MR
    document goes. Must be queries with `candidates`, which name the splits."""
    cold_share: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """Share of those groups that is taken out of the train and eval splits, so that test queries on them are evaluated
    as cold."""
    max_queries: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Use only the first so many judged queries of the file (the paper takes 25,000); null uses all."""
    shards: Annotated[int | None, Field(ge=1, le=100_000)] = None
    """Files of lists in each split; null: as many as the Beam runner makes by itself, in process one."""
    query_language: str
    """ISO 639-1 code of the queries' language."""
    document_language: str
    """ISO 639-1 code of the documents' language."""
    max_document_tokens: Annotated[int, Field(ge=1, lt=2**31)] = 200
    """Words of a document, or of a query, beyond this number are cut off."""
    max_bad_share: Annotated[float, Field(ge=0, le=1)] = 0.05
    """A run stops when more than this share of the lines of a file is bad."""
    sha256: InputDigests = InputDigests()
    """Digests that the input files must have; filled in by every run in its resolved configuration."""

    @model_validator(mode="before")
    @classmethod
    def _texts_are_given_or_made(cls, content: Any) -> Any:
        """Queries, documents and judgments must be given but with dumps."""
        if not isinstance(content, Mapping):
            return content
        if content.get("wikipedia") is None:
            return {key: value for key, value in content.items() if key not in _TEXTS or value is not None}
        return dict.fromkeys(_TEXTS) | dict(content)

    @field_validator("wikipedia")
    @classmethod
    def _nothing_is_given_and_made(cls, wikipedia: Settings | None, info: ValidationInfo) -> Settings | None:
        given = [key for key in (*_TEXTS, "candidates") if info.data.get(key) is not None]
        if wikipedia is not None and given:
            raise ValueError(f"must be null where files are given, which it would make; got {', '.join(given)}, too")
        if wikipedia is not None and info.data.get("top_grade", 2) != 2:
            raise ValueError(
                f"must be null but for the grades 0, 1 and 2, which it makes; got top_grade {info.data['top_grade']}"
            )
        return wikipedia

    @field_validator("query_language", "document_language")
    @classmethod
    def _language_is_known(cls, language: str) -> str:
        if language not in LANGUAGES:
            hint = did_you_mean(language, LANGUAGES)
            raise ValueError(f"must be an ISO 639-1 code (two letters); got {language!r}{hint}")
        return language

    @field_validator("split")
    @classmethod
    def _candidates_name_the_splits(cls, split: str, info: ValidationInfo) -> str:
        if split != "queries" and info.data.get("candidates"):
            raise ValueError(f"must be queries with data.candidates, which name the splits; got {split!r}")
        return split

    @model_validator(mode="after")
    def _files_are_distinct(self) -> "DataSettings":
        paths = [path for path in (self.queries, self.documents, self.judgments, self.candidates) if path]
        if len(set(paths)) < len(paths):
            raise ValueError(f"queries, documents, judgments and candidates must be different files; got {paths}")
        return self
